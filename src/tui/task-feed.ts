/**
 * Keeps the tasks of all processes up to date, cheaply: one stream in which the server combines changes, so that an
 * OpenCode in which nothing happens does nothing. A lost server is looked for again, since another one may have taken
 * its place. Bounded: all live tasks and the newest ended ones. Never throws.
 */
import { type Client, createClient } from "../client/client.ts";
import { pause } from "../client/pause.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Log } from "../process/log.ts";
import type { BackgroundTask } from "../protocol/tasks.ts";
import type { ServerAddress } from "./find-server.ts";
import { type PanelTask, panelTask } from "./panel-task.ts";

/** A reader pays for each piece of a stream that arrives. */
const EVERY_MS = 1000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 5000;
const ENDED_KEPT = 200;
/** What arrives in one piece is shown together. */
const TOGETHER_MS = 10;
/** A server that hangs must not leave a person without an answer. */
const ANSWER_MS = 30_000;

export interface FeedState {
  /** In no particular order. Unchanged tasks are the same objects as before. */
  tasks: readonly PanelTask[];
  isConnected: boolean;
}

export interface TaskFeedOptions {
  find(): ServerAddress | null;
  signal: AbortSignal;
  log: Log;
  onChange(state: FeedState): void;
  /** How long a server may take to answer; half a minute when absent. */
  answerMs?: number;
  /** How long a stream may be silent; as the client's when absent. */
  silenceMs?: number;
  /** The longest pause between two tries; five seconds when absent. */
  maxWaitMs?: number;
}

export class TaskFeed {
  readonly #options: TaskFeedOptions;
  #tasks = new Map<string, PanelTask>();
  #client: Client | null = null;
  #telling: ReturnType<typeof setTimeout> | null = null;
  #noted = "";

  constructor(options: TaskFeedOptions) {
    this.#options = options;
  }

  /** For what a person does. */
  get client(): Client {
    if (this.#client) return this.#client;
    const message = "The panel has no connection to asyncagents. It looks for one; try again in a moment.";
    throw new AsyncAgentsError("host_unavailable", message);
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    const { signal, find, maxWaitMs = MAX_WAIT_MS } = this.#options;
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      const server = find();
      if (server) {
        try {
          this.#note(await this.#follow(server));
          if (this.#client !== null) waitMs = FIRST_WAIT_MS;
        } catch (thrown) {
          this.#note(messageOf(thrown));
        }
      }
      if (this.#client !== null) {
        this.#client = null;
        this.#changed();
      }
      await pause(Math.min(waitMs, maxWaitMs), signal);
      waitMs = Math.min(waitMs * 2, maxWaitMs);
    }
  }

  /** Returns why the connection was lost, or was not made. */
  async #follow(server: ServerAddress): Promise<string> {
    const { signal, answerMs = ANSWER_MS, silenceMs } = this.#options;
    const client = createClient({
      ...server,
      origin: { door: "person", depth: 0 },
      fetch: (input, init) => fetch(input, { ...init, signal: init?.signal ?? AbortSignal.timeout(answerMs) }),
    });
    for await (const event of client.events({ signal, everyMs: EVERY_MS, ...(silenceMs && { silenceMs }) })) {
      if (event.type === "reconnecting") return event.reason;
      if (event.type === "snapshot") {
        this.#tasks = new Map();
        for (const task of event.snapshot.tasks) this.#take(task);
      } else if ("task" in event) this.#take(event.task);
      else continue;
      this.#client = client;
      this.#changed();
    }
    return "";
  }

  /** The same reason once: a server may stay away for days. */
  #note(reason: string): void {
    if (this.#options.signal.aborted || reason === this.#noted) return;
    this.#noted = reason;
    this.#options.log.info("the panel has no stream; it connects again", { reason });
  }

  /** A server of another version may send something else: that task is missing then, and no other. */
  #take(task: BackgroundTask): void {
    try {
      this.#tasks.set(task.id, panelTask(task));
    } catch (thrown) {
      this.#options.log.error("the panel cannot show a task", { error: messageOf(thrown) });
    }
  }

  #forgetOldest(): void {
    const ended = [...this.#tasks.values()].filter((task) => !task.isLive);
    if (ended.length <= ENDED_KEPT) return;
    ended.sort((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0));
    for (const { id } of ended.slice(ENDED_KEPT)) this.#tasks.delete(id);
  }

  #changed(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = null;
      if (this.#options.signal.aborted) return;
      this.#forgetOldest();
      this.#options.onChange({ tasks: [...this.#tasks.values()], isConnected: this.#client !== null });
    }, TOGETHER_MS);
  }
}
