/**
 * What a scenario needs: the real OpenCode with our plugin and the scripted model, the store as another process sees
 * it, and parents that call tools. Waits follow events and have timeouts; nothing here knows how the plugin works.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, createClient } from "../../src/client/client.ts";
import { Changes } from "../../src/engine/watching/changes.ts";
import { Waiter } from "../../src/engine/watching/waiter.ts";
import type { Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Log } from "../../src/process/log.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, type ModelCall, type Script, say, scriptMarker } from "../../src/testing/models/script.ts";
import type { RecordedEvent } from "../../src/testing/opencode/events.ts";
import { type OpenCode, type OpenCodeOptions, startOpenCode } from "../../src/testing/opencode/harness.ts";

export const PLUGIN = pathToFileURL(join(import.meta.dir, "../../src/opencode/server.ts")).href;
/** Long: a busy machine needs a while for sixty concurrent agents. */
const LIMIT_MS = 100_000;
const NOTICE = /^[✓✗⊘⏸↻]/u;

export interface WorldOptions extends Omit<OpenCodeOptions, "model" | "plugin"> {
  /** Options of the plugin. */
  options?: Record<string, unknown>;
  /** A plugin file instead of the real one. */
  plugin?: string;
  /** A model to share with another world. */
  model?: OpenAiModel;
}

/** A message of ours in a parent's session. */
export interface SeenNotice {
  messageId: string;
  visible: string;
  hidden: string;
}

export interface Api {
  url: string;
  token: string;
  port: number;
  client: Client;
}

export class World {
  readonly model: OpenAiModel;
  readonly opencode: OpenCode;
  readonly prefix: string;
  readonly storage: string;
  readonly store: Store;
  readonly #changes: Changes;
  readonly #waiter: Waiter;
  readonly #ownsModel: boolean;
  #scripts = 0;

  private constructor(
    parts: Pick<World, "model" | "opencode" | "prefix" | "storage" | "store">,
    more: [Changes, Waiter, boolean],
  ) {
    this.model = parts.model;
    this.opencode = parts.opencode;
    this.prefix = parts.prefix;
    this.storage = parts.storage;
    this.store = parts.store;
    [this.#changes, this.#waiter, this.#ownsModel] = more;
  }

  static async start({ options = {}, plugin = PLUGIN, model: shared, ...rest }: WorldOptions = {}): Promise<World> {
    const model = shared ?? startOpenAiModel();
    // Any port: the default ones belong to the user of this machine, and to the tests about them.
    const given = Object.entries({ ASYNCAGENTS_API_PORT: "0", ...rest.env });
    // An empty value means unset.
    const env = Object.fromEntries(given.filter(([, value]) => value !== ""));
    const opencode = await startOpenCode({ ...rest, env, model, plugin: [[plugin, options]] });
    const storage = rest.env?.ASYNCAGENTS_HOME ?? join(opencode.home, ".opencode", "plugins", "background-agent");
    const store = await sqliteStore({ directory: storage });
    const log: Log = { info() {}, error: (message, details) => console.error(message, details) };
    const watching = { store, log, after: systemClock.after };
    const changes = new Changes(watching);
    await changes.start();
    const prefix = typeof options.toolPrefix === "string" ? options.toolPrefix : "asyncagents";
    return new World({ model, opencode, prefix, storage, store }, [
      changes,
      new Waiter(watching, changes),
      shared === undefined,
    ]);
  }

  async stop(): Promise<void> {
    this.#changes.stop();
    await this.store.close();
    await this.opencode.stop();
    if (this.#ownsModel) await this.model.stop();
  }

  /** Registers a script under a unique name; returns the marker that binds a session to it. */
  script(...steps: Script): string {
    const name = `s${process.pid}-${Math.random().toString(36).slice(2, 8)}-${this.#scripts++}`;
    this.model.script(name, steps);
    return scriptMarker(name);
  }

  tool(name: string): string {
    return `${this.prefix}_${name}`;
  }

  async parent(input: Parameters<OpenCode["createSession"]>[0] = {}): Promise<Parent> {
    return new Parent(this, (await this.opencode.createSession({ title: "parent", ...input })).id);
  }

  /** The task once `reached` holds for it. */
  async until(taskId: string, reached: (task: Task) => boolean, what = "a state"): Promise<Task> {
    const { reason, task } = await this.#waiter.until(taskId, reached, { timeout: LIMIT_MS });
    if (reason !== "reached" || !task) throw new Error(`${taskId} did not reach ${what}: ${JSON.stringify(task)}`);
    return task;
  }

  async ended(taskId: string): Promise<Task> {
    return this.until(taskId, (task) => task.status !== "running" && task.status !== "resumed", "its end");
  }

  /** Resolves when no task is live and no notice is pending. */
  settled(): Promise<void> {
    return this.#untilStored("nothing live, nothing to be told", async () => {
      const { total } = await this.store.tasks({ status: ["running", "resumed"], limit: 1 });
      const open = [...(await this.store.parentsWithNotices()), ...(await this.store.launches())];
      return total === 0 && open.length === 0;
    });
  }

  /** Resolves when the plugin in this OpenCode has started its engine. */
  begun(): Promise<void> {
    return this.#untilStored("this OpenCode's instance", async () =>
      (await this.store.instances()).some(({ pid }) => pid === this.opencode.pid),
    );
  }

  /** The status API of this OpenCode, as announced in its file. */
  async api(): Promise<Api> {
    await this.begun();
    const file = join(this.storage, "servers", `${this.opencode.pid}.json`);
    const { url, token, port } = JSON.parse(readFileSync(file, "utf8"));
    return { url, token, port, client: createClient({ url, token }) };
  }

  /** Resolves when a parent has at least this many tasks. */
  launched(parentSessionId: string, count: number): Promise<void> {
    return this.#untilStored(`${count} tasks`, async () => {
      return (await this.store.tasks({ parentSessionId, limit: 1 })).total >= count;
    });
  }

  /** Checks at each change of the store, until it holds. */
  async #untilStored(what: string, holds: () => Promise<boolean>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => void holds().then((held) => held && resolve(), reject);
    const stop = this.store.onChange(look);
    const timer = setTimeout(async () => {
      const { tasks } = await this.store.tasks({ status: ["running", "resumed"] });
      const left = { tasks, parents: await this.store.parentsWithNotices(), launches: await this.store.launches() };
      reject(new Error(`the store did not come to hold ${what}: ${JSON.stringify(left)}`));
    }, LIMIT_MS);
    look();
    await promise.finally(() => {
      clearTimeout(timer);
      stop();
    });
  }

  async task(taskId: string): Promise<Task> {
    const task = await this.store.task(taskId);
    if (!task) throw new Error(`the store has no task ${taskId}`);
    return task;
  }
}

export class Parent {
  readonly sessionId: string;
  readonly #world: World;

  constructor(world: World, sessionId: string) {
    this.#world = world;
    this.sessionId = sessionId;
  }

  /** One turn in which the model calls one of our tools; returns the tool's answer. */
  async ask(tool: string, input: ModelCall["input"] = {}, options: { agent?: string } = {}): Promise<string> {
    const [answer] = await this.askAll([{ name: tool, input }], options);
    return answer ?? "";
  }

  /** One turn with several calls in one step. */
  async askAll(list: ModelCall[], options: { agent?: string } = {}): Promise<string[]> {
    const named = list.map(({ name, input }) => ({ name: this.#world.tool(name), input }));
    const first = named[0];
    const step =
      named.length === 1 && first
        ? call(first.name, first.input)
        : { type: "toolCalls" as const, text: "", calls: named };
    const text = `${this.#world.script(step, say("done"))} go`;
    const { opencode } = this.#world;
    const from = opencode.events.length;
    const answers = new Map<string, string | null>();
    await opencode.promptAsync(this.sessionId, text, options);
    await opencode.waitForEvent(
      (event) => collectAnswer(event, this.sessionId, named, answers) === list.length,
      LIMIT_MS,
      from,
    );
    await opencode.waitIdle(this.sessionId);
    return [...answers.values()].map((answer) => answer ?? "");
  }

  /** Launches a task that follows these steps; returns its id. */
  async launch(steps: Script, input: Record<string, unknown> = {}): Promise<string> {
    const [id] = await this.launchAll([steps], input);
    return id ?? "";
  }

  /** Launches one task per list of steps, all in one model step. */
  async launchAll(scripts: readonly Script[], input: Record<string, unknown> = {}): Promise<string[]> {
    const answers = await this.askAll(
      scripts.map((steps, index) => ({
        name: "task",
        input: {
          description: `task ${index + 1}`,
          prompt: `${this.#world.script(...steps)} work`,
          agent: "general",
          ...input,
        },
      })),
    );
    return answers.map((answer) => {
      const id = /Task ((?:ses|tsk)_\w+)/.exec(answer)?.[1];
      if (!id) throw new Error(`no task was launched: ${answer}`);
      return id;
    });
  }

  async notices(): Promise<SeenNotice[]> {
    const messages = await this.#world.opencode.messages(this.sessionId);
    return messages.flatMap(({ info, parts }) => {
      const texts = parts.flatMap((part) => (part.type === "text" ? [part] : []));
      const [visible, hidden] = texts;
      if (info.role !== "user" || !visible || !NOTICE.test(visible.text)) return [];
      return [{ messageId: info.id, visible: visible.text, hidden: hidden?.synthetic ? hidden.text : "" }];
    });
  }

  /** The notice whose visible or hidden part contains the text, once it is in the session. */
  async notice(holds: string): Promise<SeenNotice> {
    await this.#world.opencode.waitForEventOf(
      "message.part.updated",
      ({ part }) =>
        part.sessionID === this.sessionId && part.type === "text" && part.text.includes(holds) && isNoticePart(part),
      { timeoutMs: LIMIT_MS },
    );
    const found = (await this.notices()).find(({ visible, hidden }) => `${visible}\n${hidden}`.includes(holds));
    if (!found) throw new Error(`no notice with ${holds}`);
    return found;
  }

  /** How often each task was announced, over all notices. */
  async told(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { hidden } of await this.notices()) {
      for (const [, id] of hidden.matchAll(/^(?:--- (?:result|error) of task|Task) ((?:ses|tsk)_\w+)/gm)) {
        if (id) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    return counts;
  }

  /** How often the model was asked with this message as the newest of the user's. */
  turnsOf(notice: SeenNotice): number {
    return this.#world.model
      .requestsOf(this.sessionId)
      .filter((request) => request.request.lastUserText.includes(notice.hidden)).length;
  }
}

/** Records the answers of the calls in one session, in the order of the calls; returns how many there are. */
function collectAnswer(
  event: RecordedEvent,
  sessionId: string,
  calls: readonly ModelCall[],
  answers: Map<string, string | null>,
): number {
  if (event.type === "message.part.updated" && event.properties.part.sessionID === sessionId) {
    const { part } = event.properties;
    if (part.type === "tool" && calls.some(({ name }) => name === part.tool)) {
      const { state } = part;
      const answer = state.status === "completed" ? state.output : state.status === "error" ? state.error : null;
      answers.set(part.callID, answer);
    }
  }
  return [...answers.values()].filter((answer) => answer !== null).length;
}

function isNoticePart(part: { text: string; synthetic?: boolean }): boolean {
  return part.synthetic === true || NOTICE.test(part.text);
}
