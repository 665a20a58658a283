/**
 * A real daemon, a scripted model and a home for the real Claude CLI, as a parent of background tasks: in a terminal or
 * headless, with the plugin or only with the MCP server. What a session was told is read from the requests that its
 * model got.
 */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { findDaemon, stopDaemon } from "../../src/daemon/find-daemon.ts";
import type { BackgroundTask } from "../../src/protocol/tasks.ts";
import { type ClaudeHome, claudeEnvironment } from "../../src/testing/claude-home.ts";
import { type AnthropicModel, startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import type { MessagesRequest } from "../../src/testing/models/messages-request.ts";
import { type Answer, call, type Script, scriptMarker } from "../../src/testing/models/script.ts";
import { COMMAND, DaemonBed, mcpArguments } from "../mcp/daemon-bed.ts";
import { answerFirstQuestions, CLAUDE, ClaudeTerminal } from "./claude-terminal.ts";
import { HeadlessClaude } from "./headless-claude.ts";

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");
/** As the CLI names the tools of the plugin's server, and those of a server in its own configuration. */
const PREFIXES = { plugin: "mcp__plugin_asyncagents_asyncagents__", server: "mcp__asyncagents__" };

/** Long: the machine may be busy, and a session that continues another way is told after 15 seconds. */
const TOLD_MS = 90_000;

/** What was said, without the calls of tools and their results. */
function textsOf(request: MessagesRequest | undefined): string {
  return request?.turns.map(({ text }) => text).join("\n") ?? "";
}

export class ParentBed {
  readonly daemon: DaemonBed;
  readonly model: AnthropicModel;
  readonly home: ClaudeHome;
  readonly #stops: (() => Promise<void>)[] = [];

  private constructor(daemon: DaemonBed, model: AnthropicModel, home: ClaudeHome) {
    this.daemon = daemon;
    this.model = model;
    this.home = home;
  }

  static async start(): Promise<ParentBed> {
    const daemon = await DaemonBed.start();
    const model = startAnthropicModel();
    // The plugin's hooks and its server find the daemon by the environment of the CLI.
    const ours = Object.fromEntries(
      Object.entries(daemon.environment).filter(([name]) => name.startsWith("ASYNCAGENTS_")),
    );
    const home = await claudeEnvironment({ model, environment: ours });
    await daemon.person("allow_directory", { directory: home.directory });
    const { CLAUDE_CONFIG_DIR = "", ANTHROPIC_API_KEY = "" } = home.environment;
    await answerFirstQuestions(CLAUDE_CONFIG_DIR, home.directory, ANTHROPIC_API_KEY);
    return new ParentBed(daemon, model, home);
  }

  /** A step that launches a scripted agent, which waits for a gate and then ends as it is told. */
  launch(gate: string, end: string, by: keyof typeof PREFIXES): Answer {
    const prompt = `!wait ${gate}\n${end}`;
    return call(`${PREFIXES[by]}launch_task`, { prompt, description: gate, executor: "SCRIPTED" });
  }

  /** Lets the agent of that gate go on. */
  async open(gate: string): Promise<void> {
    await writeFile(join(this.home.directory, gate), "");
  }

  /** Installs the plugin as a person does. */
  async install(): Promise<void> {
    const bin = join(this.home.root, "bin");
    await mkdir(bin, { recursive: true });
    await symlink(CLAUDE, join(bin, "claude"));
    const env = { ...this.home.environment, PATH: `${bin}:${this.home.environment.PATH}` };
    const child = Bun.spawn([COMMAND, MAIN, "install", "claude", "--yes"], { env, stdio: ["ignore", "pipe", "pipe"] });
    const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(said.join("\n"));
  }

  /** Arguments of the CLI for a session that has only the MCP server. */
  async onlyServer(): Promise<string[]> {
    const file = join(this.home.root, "mcp.json");
    const server = { command: COMMAND, args: mcpArguments(), env: this.daemon.environment };
    await writeFile(file, JSON.stringify({ mcpServers: { asyncagents: server } }));
    return ["--mcp-config", file, "--strict-mcp-config"];
  }

  async terminal(args: readonly string[], environment: Record<string, string> = {}): Promise<ClaudeTerminal> {
    const { root, directory } = this.home;
    const all = { ...this.home.environment, ...environment };
    const terminal = await ClaudeTerminal.start({ root, directory, environment: all, arguments: args });
    this.#stops.push(() => terminal.stop());
    await terminal.ready();
    return terminal;
  }

  headless(args: readonly string[], environment: Record<string, string> = {}): HeadlessClaude {
    const { directory } = this.home;
    const claude = new HeadlessClaude({
      directory,
      environment: { ...this.home.environment, ...environment },
      arguments: args,
    });
    this.#stops.push(() => claude.stop());
    return claude;
  }

  /** Registers a script, and gives the prompt that starts it. */
  script(name: string, steps: Script): string {
    this.model.script(name, steps);
    return `${scriptMarker(name)} go`;
  }

  /** How often each text was told in the newest request of a session, which has the whole conversation. */
  told(sessionId: string, texts: readonly string[]): Record<string, number> {
    const said = textsOf(this.model.requestsOf(sessionId).at(-1)?.request);
    return Object.fromEntries(texts.map((text) => [text, said.split(text).length - 1]));
  }

  /** Resolves when a session's model was told that. */
  async untilTold(sessionId: string, text: string): Promise<void> {
    await this.model.waitForRequest(
      (entry) => entry.kind === "turn" && entry.sessionId === sessionId && textsOf(entry.request).includes(text),
      TOLD_MS,
    );
  }

  /** Resolves when that step of a script was asked for. */
  async untilStep(label: string): Promise<string> {
    const { sessionId } = await this.model.waitForRequest(({ answeredBy }) => answeredBy === label, TOLD_MS);
    return sessionId;
  }

  /** Resolves when all notices are settled, with how each task was told, by its description. */
  async notices(): Promise<Record<string, string>> {
    const tasks = await this.#untilTasks((all) => all.every(({ notice }) => notice?.state === "delivered"));
    return Object.fromEntries(tasks.map((each) => [each.description, each.notice?.reason ?? ""]));
  }

  /** Resolves when a hook has taken the end of that task to tell it. */
  async untilClaimed(description: string): Promise<void> {
    await this.#untilTasks((all) => {
      const state = all.find((each) => each.description === description)?.notice?.state;
      return state === "sending" || state === "delivered";
    });
  }

  /** No event says that a notice has changed. */
  async #untilTasks(holds: (tasks: BackgroundTask[]) => boolean): Promise<BackgroundTask[]> {
    const deadline = performance.now() + TOLD_MS;
    for (;;) {
      const tasks = await this.tasks();
      if (holds(tasks)) return tasks;
      const stand = tasks.map(({ description, notice }) => `${description}: ${notice?.state}, ${notice?.reason}`);
      if (performance.now() > deadline) throw new Error(`The notices stay as they are:\n${stand.join("\n")}`);
      await Bun.sleep(50);
    }
  }

  /** The tasks, newest first, each with its newest notice. */
  async tasks(): Promise<BackgroundTask[]> {
    const client = createClient({ url: this.daemon.url, ...(await this.daemon.token()) });
    const { tasks } = await client.tasks({ limit: 50 });
    return Promise.all(tasks.map(({ id }) => client.task(id)));
  }

  /** Kills the daemon as a crash would; whoever needs one starts another. It is found again by its record. */
  async crashDaemon(): Promise<void> {
    await this.daemon.stopDaemon("SIGKILL");
    const data = this.daemon.environment.ASYNCAGENTS_HOME ?? "";
    let found = findDaemon(data);
    const deadline = performance.now() + TOLD_MS;
    while (found === null) {
      if (performance.now() > deadline) throw new Error("Nobody has started the daemon again");
      await Bun.sleep(50);
      found = findDaemon(data);
    }
    const { url } = found;
    this.daemon.url = url;
    this.#stops.push(async () => {
      await stopDaemon(found, 20_000);
    });
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    await this.model.stop();
    await this.daemon.stop();
    await this.home.remove();
  }
}
