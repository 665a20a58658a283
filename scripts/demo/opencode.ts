/**
 * Starts the demo's OpenCode in one of two ways: with the scripted model in its own HOME, or with the user's own
 * model in the user's HOME. In both cases the project, the tasks and the sessions are in a temporary folder that is
 * removed at the end.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { OpenCode } from "../../src/testing/opencode/harness.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { projectFiles, type Story, scriptedStory, scripts, wordedStory } from "./script.ts";

const repository = join(import.meta.dir, "../..");
const plugin = pathToFileURL(join(repository, "src", "opencode", "server.ts")).href;
/** The demo builds it if it is missing or old, as it does the dashboard. */
const panel = pathToFileURL(join(repository, "dist", "tui", "panel.js")).href;

export interface Stage {
  opencode: OpenCode;
  story: Story;
  /** The plugin's storage folder. */
  storage: string;
  /** The folder that contains everything and is removed at the end. */
  root: string;
  /** The timeout of each step of the story. */
  patienceMs: number;
  /** Ends the process and removes the folder; safe to call at any time. */
  strike(): Promise<void>;
}

/** Prepares everything; so far only the scripted model is running. */
export async function scriptedStage(): Promise<Stage> {
  const root = await createTemporaryRoot();
  const home = join(root, "home");
  const model = startOpenAiModel({ scripts, usage: estimatedUsage });
  await prepareHome(home, { model, plugin: [plugin] });
  // Read by the `opencode attach` that the demo prints at its end.
  await writeFile(join(home, ".config", "opencode", "tui.json"), JSON.stringify({ plugin: [panel] }));
  const project = await projectIn(root, projectFiles);
  const opencode = new OpenCode(root, home, project, {});
  const storage = join(home, ".opencode", "plugins", "background-agent");
  return { opencode, story: scriptedStory, storage, root, patienceMs: 120_000, strike: () => end(opencode, model) };
}

/**
 * Uses the user's own OpenCode configuration and credentials unchanged. The plugin, the model and the agents'
 * permissions come from the temporary project's opencode.json, which OpenCode merges over them; nothing is written to
 * the configuration.
 */
export async function ownStage(model: string, patienceMs: number): Promise<Stage> {
  const root = await createTemporaryRoot();
  const storage = join(root, "tasks");
  const config = { plugin: [plugin], model, permission: readingOnly, share: "disabled" };
  const project = await projectIn(root, { ...projectFiles, "opencode.json": JSON.stringify(config, undefined, 2) });
  const opencode = new OpenCode(root, process.env.HOME ?? homedir(), project, {
    ...ownEnvironment(),
    // A separate history: the demo's sessions do not show up among the user's.
    OPENCODE_DB: join(root, "opencode.db"),
    OPENCODE_DISABLE_MODELS_FETCH: process.env.OPENCODE_DISABLE_MODELS_FETCH ?? "",
    ASYNCAGENTS_HOME: storage,
  });
  return { opencode, story: wordedStory, storage, root, patienceMs, strike: () => end(opencode, undefined) };
}

/**
 * The demo's agents read and search in the demo's project; nothing asks for permission, since nobody is there to
 * answer.
 */
const readingOnly = {
  "*": "deny",
  read: "allow",
  grep: "allow",
  glob: "allow",
  list: "allow",
  task: "allow",
  "asyncagents_*": "allow",
};

async function projectIn(root: string, files: Record<string, string>): Promise<string> {
  await mkdir(join(root, "project"));
  return createProject(join(root, "project"), files);
}

/**
 * The user's environment, which may contain their keys, without variables that would point the demo to another
 * OpenCode.
 */
function ownEnvironment(): Record<string, string> {
  const hindering = ["OPENCODE_SERVER_PASSWORD", "OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG"];
  const kept = Object.entries(process.env).filter(([name, value]) => value && !hindering.includes(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

/** About four characters per token, as with real models. */
function estimatedUsage(request: { body: object }): { prompt_tokens: number; completion_tokens: number } {
  return { prompt_tokens: Math.ceil(JSON.stringify(request.body).length / 4), completion_tokens: 25 };
}

async function end(opencode: OpenCode, model: OpenAiModel | undefined): Promise<void> {
  await opencode.stop();
  await model?.stop();
}
