/**
 * The folders of an OpenCode under test: a HOME with its configuration, and a project that is a git repository.
 * Invariant: nothing is read from or written to the developer's HOME, and OpenCode finds nothing to install there. Does
 * not start OpenCode.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PermissionSetting = "allow" | "ask" | "deny" | Record<string, unknown>;
/** A plugin as in OpenCode's configuration: a package name or file URL, with or without options. */
export type PluginEntry = string | [string, Record<string, unknown>];

export interface OpenCodeSettings {
  /** The scripted model, or anything else with a baseURL. */
  model: { url: string };
  plugin?: PluginEntry[];
  /** Replaces the default, which allows everything. */
  permission?: PermissionSetting;
  /** Merged over the rest of `opencode.json`, one level deep: `agent`, `command`, more providers, … */
  config?: Record<string, unknown>;
}

export const providerId = "fake";
export const modelId = "m1";

export function openCodeConfig(settings: OpenCodeSettings): Record<string, unknown> {
  const models = { [modelId]: { name: "Scripted", tool_call: true, limit: { context: 200_000, output: 32_000 } } };
  const options = { baseURL: settings.model.url, apiKey: "none" };
  return {
    $schema: "https://opencode.ai/config.json",
    provider: { [providerId]: { name: "Scripted", npm: "@ai-sdk/openai-compatible", options, models } },
    model: `${providerId}/${modelId}`,
    small_model: `${providerId}/${modelId}`,
    permission: settings.permission ?? { "*": "allow" },
    share: "disabled",
    autoupdate: false,
    // A git snapshot for every step makes many concurrent sessions five times slower; enable it in `config` if undo
    // matters.
    snapshot: false,
    plugin: settings.plugin ?? [],
    ...settings.config,
  };
}

export async function createTemporaryRoot(): Promise<string> {
  // OpenCode reports real paths; on macOS the temporary folder is behind a link.
  return realpath(await mkdtemp(join(tmpdir(), "asyncagents-")));
}

/**
 * OpenCode's list of known models, which is empty here. To read the one that it brings takes a third of the processor
 * time until the end of a first turn.
 */
export function modelsFile(home: string): string {
  return join(home, "models.json");
}

/** Writes the configuration. An existing one is kept, unless the settings contain more than the model. */
export async function prepareHome(home: string, settings: OpenCodeSettings): Promise<void> {
  const folder = join(home, ".config", "opencode");
  const file = join(folder, "opencode.json");
  const asked = settings.plugin ?? settings.permission ?? settings.config;
  for (const seeded of [folder, join(home, ".opencode")]) await seedPluginPackage(seeded);
  await writeFile(modelsFile(home), "{}");
  if (existsSync(file) && asked === undefined) return;
  await writeFile(file, `${JSON.stringify(openCodeConfig(settings), undefined, 2)}\n`);
}

/**
 * OpenCode installs `@opencode-ai/plugin` from npm into every configuration folder before it loads a plugin. It
 * considers a folder done if `node_modules` exists and the lock file's root names the package; the package itself is
 * not needed.
 */
async function seedPluginPackage(folder: string): Promise<void> {
  await mkdir(join(folder, "node_modules"), { recursive: true });
  const root = { dependencies: { "@opencode-ai/plugin": "*" } };
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages: { "": root } }));
}

/** A git repository with one commit and a few files. */
export async function createProject(directory: string, files: Record<string, string> = projectFiles): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, content);
  }
  const git = (...args: string[]) =>
    Bun.spawnSync(
      ["git", "-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false", ...args],
      {
        cwd: directory,
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "Initial commit"],
  ]) {
    const result = git(...args);
    if (result.exitCode !== 0)
      throw new Error(`git ${args.join(" ")} failed in ${directory}: ${result.stderr.toString()}`);
  }
  return realpath(directory);
}

const projectFiles = {
  "README.md": "# Sample project\n\nUsed by tests.\n",
  "src/greet.ts": "export function greet(name: string): string {\n  return `Hello, ${" + "name}!`;\n}\n",
  "notes.txt": "alpha\nbeta\ngamma\n",
};
