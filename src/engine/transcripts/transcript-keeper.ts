/**
 * Stores what can be read of a run once it has ended, for readers on other machines: outside of the transaction that
 * ends the run, those that wait together, and again if that fails. If the process dies in between, it is missing: the
 * run itself is not affected. Used only where several machines share a store.
 */
import { messageOf } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { isLive, type Task } from "../../model/task.ts";
import type { Clock } from "../../process/clock.ts";
import { pause, settlesWithin } from "../../process/deadline.ts";
import type { Log } from "../../process/log.ts";
import { SerialQueue } from "../../process/serial-queue.ts";
import type { Store } from "../../store/store.ts";
import type { Transcript, TranscriptKind } from "../../store/transcripts/records.ts";
import type { Engine } from "../engine.ts";
import { packed } from "./packed.ts";

const PAGE = 100;
/** How much of a conversation is kept, in characters before it is compressed; the newest messages count. */
const MAX_CHARS = 4_000_000;
/** Runs that end faster than they are stored are not kept beyond so many. */
const MAX_WAITING = 500;
/** How many are stored together, and how much at least makes a write of its own. */
const MOST_TOGETHER = 50;
const MOST_CHARS_TOGETHER = 1_000_000;
const TRIES = 3;
const PAUSE_MS = 2_000;
/** How long a process that ends waits for what is being kept. */
const LAST_MS = 3_000;

interface KeeperContext extends Clock {
  store: Store;
  log: Log;
}

interface Waiting {
  task: Task;
  kind: TranscriptKind;
  read(): Promise<unknown>;
}

export class TranscriptKeeper {
  readonly #context: KeeperContext;
  readonly #queue = new SerialQueue();
  readonly #waiting: Waiting[] = [];

  constructor(context: KeeperContext) {
    this.#context = context;
  }

  /** Keeps the conversations of that engine's runs from now on. */
  follow(engine: Engine): void {
    engine.onEnded((task) => {
      if (!isLive(task.status)) this.keep(task, "conversation", () => conversationOf(engine, task));
    });
  }

  /** `read` gives what is kept, when its turn comes; null if there is nothing. */
  keep(task: Task, kind: TranscriptKind, read: () => Promise<unknown>): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push({ task, kind, read });
    void this.#queue.run(() => this.#storeNext());
  }

  /** Resolves when what has ended is kept, at most after a moment. Before a host, or the store, is closed. */
  async idle(): Promise<void> {
    if (await settlesWithin(this.#queue.idle(), { timeout: LAST_MS, clock: this.#context })) return;
    this.#context.log.error("what the last runs show could not be kept in time", {});
  }

  /** Those that wait by now, together. */
  async #storeNext(): Promise<void> {
    const found: Transcript[] = [];
    for (let chars = 0; found.length < MOST_TOGETHER && chars < MOST_CHARS_TOGETHER; ) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const transcript = await this.#tried(next.task.id, () => this.#transcriptOf(next));
      if (transcript) found.push(transcript);
      chars += transcript?.content.length ?? 0;
    }
    const [first] = found;
    if (first) await this.#tried(first.taskId, () => this.#context.store.transcripts.put(found));
  }

  async #transcriptOf({ task, kind, read }: Waiting): Promise<Transcript | null> {
    const value = await read();
    if (value === null) return null;
    return { taskId: task.id, kind, run: task.run.number, content: packed(value), at: this.#context.now() };
  }

  /** Undefined if it kept failing. */
  async #tried<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    for (let tries = 1; tries <= TRIES; tries++) {
      try {
        return await work();
      } catch (thrown) {
        const error = messageOf(thrown);
        this.#context.log.error("what ended runs show could not be kept", { task, tries, error });
        if (tries < TRIES) await pause(PAUSE_MS * tries, { clock: this.#context });
      }
    }
    return undefined;
  }
}

/** The newest messages, oldest first. */
async function conversationOf(engine: Engine, { sessionId }: Task): Promise<Message[] | null> {
  if (sessionId === "") return null;
  const found: Message[] = [];
  let before: string | null = null;
  let chars = 0;
  do {
    const page = await engine.messages(sessionId, { limit: PAGE, before });
    for (const message of page.messages.toReversed()) {
      chars += JSON.stringify(message).length;
      if (chars > MAX_CHARS) return found;
      found.unshift(message);
    }
    before = page.before;
  } while (before !== null);
  return found;
}
