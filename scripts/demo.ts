/**
 * `npm start`: a parent in the real OpenCode delegates work to three background agents, is notified how each one
 * ended, and has one of them resumed. It leaves no process and no folder behind, however it ends. Exit code 0 only if
 * everything went as expected.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isLive, type Task } from "../src/model/task.ts";
import { durationText } from "../src/opencode/duration.ts";
import { sqliteStore } from "../src/store/open.ts";
import type { Store } from "../src/store/store.ts";
import { openCodeBinary } from "../src/testing/opencode/binary.ts";
import type { MessageWithParts } from "../src/testing/opencode/client.ts";
import type { OpenCode } from "../src/testing/opencode/harness.ts";
import { build } from "./build.ts";
import { endedRuns, problemsOf, type Seen, type SeenNotice } from "./demo/check.ts";
import { ownStage, type Stage, scriptedStage } from "./demo/opencode.ts";
import { Screen, standardTerminal } from "./demo/screen.ts";
import { Watch, withoutMarkers } from "./demo/watch.ts";

const usage = `Usage: npm start -- [options]

Shows asyncagents at work in the real OpenCode. Without options it needs no key and no configuration:
a scripted model plays its part, in a temporary folder that is removed at the end.

  --once                    end by itself; exit code 1 when something did not go as it should
  --model provider/model    use a model of your own, with your own OpenCode configuration and credentials.
                            The agents may only read and search, in a temporary project. This costs tokens.
  --timeout seconds         with --model: the longest that one step may take (default 300)
  --help                    show this text`;

interface Options {
  once: boolean;
  model?: string;
  timeoutMs: number;
}

/** A message for the user, or the parsed arguments. */
function readArguments(args: string[]): Options | { say: string; code: number } {
  const options: Options = { once: false, timeoutMs: 300_000 };
  const wrong = (problem: string) => ({ say: `${problem}\n\n${usage}`, code: 2 });
  for (let index = 0; index < args.length; index++) {
    const arg = args[index];
    if (arg === "--help" || arg === "-h") return { say: usage, code: 0 };
    if (arg === "--once") options.once = true;
    else if (arg === "--model") {
      const model = args[++index] ?? "";
      if (!/^[^/\s]+\/\S+$/.test(model)) return wrong("--model needs a value such as anthropic/claude-sonnet-4-5.");
      options.model = model;
    } else if (arg === "--timeout") {
      const seconds = Number(args[++index]);
      if (!(seconds > 0 && seconds <= 86_400)) return wrong("--timeout needs a number of seconds.");
      options.timeoutMs = seconds * 1000;
    } else return wrong(`Unknown argument: ${arg}`);
  }
  return options;
}

/** The URL of the plugin's page. */
function dashboardOf(storage: string): string {
  try {
    return JSON.parse(readFileSync(join(storage, "server.json"), "utf8")).url;
  } catch {
    return "switched off (ASYNCAGENTS_API_ENABLED=false)";
  }
}

class Demo {
  readonly #screen = new Screen(standardTerminal());
  readonly #options: Options;
  readonly #prompts = new Set<string>();
  #stage: Stage | undefined;
  #store: Store | undefined;
  #watch: Watch | undefined;
  #parentId = "";
  #ending: Promise<void> | undefined;
  /** Everything was shown: from here on, Ctrl-C is the normal way to end. */
  done = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Plays the story and returns whether it went as expected. */
  async play(): Promise<boolean> {
    const { model, timeoutMs } = this.#options;
    this.#screen.title("asyncagents", "background tasks for coding agents, in the real OpenCode");
    this.#screen.phase("Start");
    this.#stage = model === undefined ? await scriptedStage() : await ownStage(model, timeoutMs);
    const { story } = this.#stage;
    await this.#startOpenCode(this.#stage);
    this.#screen.phase("The parent launches three background agents, and goes on");
    await this.#prompt(story.launch);
    await this.#untilTold("the background agents to end and the parent to be told");
    if ((await this.#open()).tasks.length === 0) {
      throw new Error("Expected the parent to launch background agents. Seen: it launched none.");
    }
    this.#screen.phase("One of them is resumed, with everything it knows");
    await this.#prompt(story.followUp);
    await this.#untilTold("the resumed agent to end and the parent to be told");
    this.#screen.phase("The result");
    const seen = await this.#see();
    this.#showTable(seen);
    const problems = problemsOf(seen, story.expected);
    for (const problem of problems) this.#screen.note(problem, "✗", "red");
    if (problems.length > 0) return false;
    const count = endedRuns(seen.tasks);
    this.#screen.note(`${seen.tasks.length} tasks, each with its true status.`, "✓", "green");
    this.#screen.note(`${count} runs ended; the parent was told of each exactly once.`, "✓", "green");
    return true;
  }

  showWhereToLook(): void {
    const { opencode, storage, root } = this.#stage as Stage;
    this.#screen.phase("Look further");
    this.#screen.fact("dashboard", dashboardOf(storage));
    this.#screen.fact("tasks", `${storage}/`);
    this.#screen.fact("", "tasks.json is for reading, asyncagents.db is the truth");
    this.#screen.fact("HOME of OpenCode", opencode.home);
    this.#screen.fact("project", opencode.directory);
    this.#screen.note("The parent's session and its agents in OpenCode itself, from another terminal:");
    const program = `HOME=${opencode.home} ${openCodeBinary()}`;
    this.#screen.print(`\n${program} attach ${opencode.url} --dir ${opencode.directory} --session ${this.#parentId}\n`);
    this.#screen.note(`Ctrl-C ends the demo and removes ${root}.`);
    this.done = true;
  }

  fail(error: unknown): void {
    this.#screen.print("");
    const text = error instanceof Error ? error.message : String(error);
    for (const [index, line] of text.split("\n").entries()) this.#screen.note(line, index === 0 ? "✗" : " ", "red");
  }

  /** Ends the processes and removes the folders. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#watch?.stop();
    await this.#store?.close();
    await this.#stage?.strike();
  }

  async #startOpenCode({ opencode, storage }: Stage): Promise<void> {
    const { model } = this.#options;
    this.#screen.note(
      model === undefined
        ? "a scripted model plays its part: no key needed"
        : `the model is ${model}: this costs tokens`,
      "✓",
      "green",
    );
    await build({ say: (line) => this.#screen.note(line) });
    const finish = this.#screen.progress("starting OpenCode with the plugin; this takes some seconds");
    try {
      await opencode.start();
    } catch (error) {
      finish("OpenCode did not start", true);
      throw error;
    }
    const health = await opencode.client.request<{ version?: string }>("GET", "/global/health");
    finish(`OpenCode ${health.version ?? ""} with the plugin is ready`);
    if (model !== undefined) await requireModel(opencode, model);
    this.#store = await sqliteStore({ directory: storage });
    this.#parentId = (await opencode.createSession({ title: "The parent of the demo" })).id;
    this.#watch = new Watch(this.#store, this.#screen, this.#parentId);
    await this.#watch.start(opencode.url);
    this.#screen.startClock();
  }

  async #prompt(text: string): Promise<void> {
    const { opencode } = this.#stage as Stage;
    this.#screen.line({ name: "you", text: withoutMarkers(text), symbol: "›", colour: "green" });
    const messageId = await opencode.promptAsync(this.#parentId, text, this.#ownModel());
    this.#prompts.add(messageId);
    this.#watch?.isPrompt(messageId);
  }

  #ownModel(): { model?: { providerID: string; modelID: string } } {
    return this.#options.model === undefined ? {} : { model: modelParts(this.#options.model) };
  }

  /** Until everything is idle: no turn of the parent, no task, no pending notice. */
  async #untilTold(what: string): Promise<void> {
    const { opencode, patienceMs } = this.#stage as Stage;
    const deadline = Date.now() + patienceMs;
    let doing = "the parent is at work (the first turn of an OpenCode takes some seconds)";
    const stop = this.#screen.busy(() => doing);
    try {
      for (;;) {
        await opencode.waitIdle(this.#parentId, Math.max(1, deadline - Date.now()));
        const { tasks, owed } = await this.#open();
        const live = tasks.filter((task) => isLive(task.status));
        if (live.length === 0 && owed === 0 && !(await this.#isBusy())) break;
        doing = live.length > 0 ? `at work: ${live.map((task) => task.description).join(", ")}` : "the parent is told";
        if (Date.now() > deadline) throw new Error(`Waited ${durationText(patienceMs)} for ${what}.`);
        await Bun.sleep(100);
      }
    } catch (error) {
      const { tasks, owed } = await this.#open();
      const states = tasks.map((task) => `"${task.description}" is ${task.status} (${task.phase ?? "ended"})`);
      const seen = `${states.join(", ") || "no tasks"}; ${owed} notices are not delivered`;
      throw new Error(`Expected ${what}. Seen: ${seen}.\n${error instanceof Error ? error.message : error}`);
    } finally {
      stop();
    }
    await this.#watch?.catchUp();
  }

  /** The parent's tasks, and the number of notices it has not received yet. */
  async #open(): Promise<{ tasks: Task[]; owed: number }> {
    const store = this.#store as Store;
    const { tasks } = await store.tasks({ parentSessionId: this.#parentId });
    const pending = await store.notices(this.#parentId, "pending");
    return { tasks, owed: pending.length + (await store.notices(this.#parentId, "sending")).length };
  }

  async #isBusy(): Promise<boolean> {
    const { opencode } = this.#stage as Stage;
    return (await opencode.client.statuses())[this.#parentId] !== undefined;
  }

  async #see(): Promise<Seen> {
    const { opencode } = this.#stage as Stage;
    const store = this.#store as Store;
    const { tasks } = await store.tasks({ parentSessionId: this.#parentId, order: "oldest" });
    const messages = await opencode.messages(this.#parentId);
    return {
      tasks: await Promise.all(tasks.map(async (task) => ({ task, runs: await store.runs(task.id) }))),
      notices: messages.filter(({ info }) => info.role === "user" && !this.#prompts.has(info.id)).map(noticeOf),
    };
  }

  #showTable({ tasks }: Seen): void {
    const colours = {
      completed: "green",
      error: "red",
      cancelled: "yellow",
      running: "cyan",
      resumed: "cyan",
    } as const;
    const rows = tasks.map(({ task, runs }) => {
      const worked = runs.reduce((sum, run) => sum + ((run.endedAt ?? Date.now()) - run.startedAt), 0);
      const { input, output, reasoning, cacheRead, cacheWrite } = task.progress.tokens;
      return [
        { text: task.id },
        { text: task.agent },
        { text: task.description },
        { text: task.status, colour: colours[task.status] },
        { text: String(runs.length) },
        { text: durationText(worked) },
        { text: String(task.progress.toolCalls) },
        { text: (input + output + reasoning + cacheRead + cacheWrite).toLocaleString("en") },
      ];
    });
    const right = ["runs", "time", "tools", "tokens"].map((title) => ({ title, right: true }));
    const description = { title: "description", least: 12 };
    this.#screen.table(
      [{ title: "task", least: 9 }, { title: "agent" }, description, { title: "status" }, ...right],
      rows,
    );
  }
}

function modelParts(model: string): { providerID: string; modelID: string } {
  const [providerID = "", ...rest] = model.split("/");
  return { providerID, modelID: rest.join("/") };
}

/** Throws if the user's OpenCode does not know the model: OpenCode itself would report that late and less clearly. */
async function requireModel(opencode: OpenCode, model: string): Promise<void> {
  type Providers = { providers: { id: string; models: Record<string, unknown> }[] };
  const { providers } = await opencode.client.request<Providers>("GET", "/config/providers");
  const { providerID, modelID } = modelParts(model);
  const provider = providers.find(({ id }) => id === providerID);
  if (provider && Object.hasOwn(provider.models, modelID)) return;
  const known = provider
    ? Object.keys(provider.models).map((name) => `${providerID}/${name}`)
    : providers.map(({ id }) => `${id}/…`);
  const shown = [...known.slice(0, 20), ...(known.length > 20 ? [`and ${known.length - 20} more`] : [])].join(", ");
  throw new Error(`Your OpenCode does not know the model ${model}. It knows: ${shown || "none"}.
Log in with "opencode auth login", or add the provider to your opencode.json, and name a model that "opencode models" lists.`);
}

function noticeOf({ parts }: MessageWithParts): SeenNotice {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part] : []));
  const join = (hidden: boolean) =>
    texts
      .filter((part) => (part.synthetic === true) === hidden)
      .map((part) => part.text)
      .join("\n");
  return { visible: join(false), hidden: join(true) };
}

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2));
  if ("say" in options) {
    console.log(options.say);
    process.exit(options.code);
  }
  const demo = new Demo(options);
  let stopping = false;
  const leave = (code: number) => demo.end().finally(() => process.exit(code));
  const onSignal = (number: number) => () => {
    // A second Ctrl-C means the user does not want to wait; the process's lifeline removes the rest.
    if (stopping) process.exit(128 + number);
    stopping = true;
    console.log(demo.done ? "" : "\n  interrupted; cleaning up …");
    void leave(demo.done ? 0 : 128 + number);
  };
  process.on("SIGINT", onSignal(2));
  process.on("SIGTERM", onSignal(15));
  process.on("SIGHUP", onSignal(1));
  // A closed pipe (`npm start | head`) ends the demo too.
  process.stdout.on("error", () => void leave(1));
  const ok = await demo.play().catch((error: unknown) => {
    if (!stopping) demo.fail(error);
    return false;
  });
  if (stopping) return;
  if (options.once || !ok) await leave(ok ? 0 : 1);
  else demo.showWhereToLook();
}

await main();
