/**
 * Stores what can be read of a run once it has ended, for readers on other machines: outside of the transaction that
 * ends the run, one at a time, and again if that fails. If the process dies in between, it is missing: the run itself
 * is not affected. Used only where several machines share a store.
 */
import { messageOf } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { isLive, type Task } from "../../model/task.ts";
import type { Clock } from "../../process/clock.ts";
import { pause } from "../../process/deadline.ts";
import type { Log } from "../../process/log.ts";
import { SerialQueue } from "../../process/serial-queue.ts";
import type { Store } from "../../store/store.ts";
import type { TranscriptKind } from "../../store/transcripts/records.ts";
import type { Engine } from "../engine.ts";
import { packed } from "./packed.ts";

const PAGE = 100;
/** How much of a conversation is kept, in characters before it is compressed; the newest messages count. */
const MAX_CHARS = 4_000_000;
/** Runs that end faster than they are stored are not kept beyond so many. */
const MAX_WAITING = 500;
const TRIES = 3;
const PAUSE_MS = 2_000;

interface KeeperContext extends Clock {
  store: Store;
  log: Log;
}

export class TranscriptKeeper {
  readonly #context: KeeperContext;
  readonly #queue = new SerialQueue();
  #waiting = 0;

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
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    const work = () => this.#store(task, kind, read);
    void this.#queue.run(work).finally(() => this.#waiting--);
  }

  async #store({ id: taskId, run }: Task, kind: TranscriptKind, read: () => Promise<unknown>): Promise<void> {
    const { store, log, now } = this.#context;
    for (let tries = 1; tries <= TRIES; tries++) {
      try {
        const value = await read();
        if (value === null) return;
        await store.transcripts.put({ taskId, kind, run: run.number, content: packed(value), at: now() });
        return;
      } catch (thrown) {
        log.error("what an ended run shows could not be kept", { task: taskId, kind, tries, error: messageOf(thrown) });
        if (tries < TRIES) await pause(PAUSE_MS * tries, { clock: this.#context });
      }
    }
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
