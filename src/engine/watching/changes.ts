/**
 * Reads the store's feed as it grows, and passes on each entry once, in order, whichever process wrote it. One read at
 * a time; a failed read is repeated. Starts at the end of the feed, without history.
 */
import { messageOf } from "../../model/errors.ts";
import type { Log } from "../../process/log.ts";
import type { FeedEntry, Store } from "../../store/store.ts";

const PAGE = 200;
/** The writer is busy with what follows from its write: reading waits a moment, unless somebody watches live. */
const PAUSE_MS = 50;
/** The pause after a read that failed: perhaps nothing more is written. */
const RETRY_MS = 1_000;

/** Gets new entries of the feed, in order; the next ones are read when it is done. */
export type EntriesListener = (entries: readonly FeedEntry[]) => void | Promise<void>;

export class Changes {
  readonly #store: Store;
  readonly #log: Log;
  readonly #pauseMs: number;
  readonly #listeners = new Set<EntriesListener>();
  #seq = 0;
  #stop: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reading = false;
  #again = false;

  constructor(store: Store, log: Log, pauseMs = PAUSE_MS) {
    this.#store = store;
    this.#log = log;
    this.#pauseMs = pauseMs;
  }

  async start(): Promise<void> {
    const seq = await this.#store.lastSeq();
    // Another call was faster.
    if (this.#stop) return;
    this.#seq = seq;
    const stop = this.#store.onChange(() => this.#readSoon());
    this.#stop = () => {
      stop();
      clearTimeout(this.#timer ?? undefined);
      this.#timer = null;
    };
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  /** Called with some entries at a time. The next are read when all listeners are done with these. */
  onEntries(listener: EntriesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** After a moment, once for everything that was written until then. */
  #readSoon(ms = this.#pauseMs): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, ms);
  }

  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && this.#stop) {
        this.#again = false;
        const session = this.#stop;
        const entries = await this.#store.feed(this.#seq, PAGE);
        if (entries.length > 0) for (const listener of this.#listeners) await listener(entries);
        // It was stopped, and possibly started again further on: this page is out of date.
        if (this.#stop !== session) this.#again = true;
        else this.#seq = entries.at(-1)?.seq ?? this.#seq;
        if (entries.length === PAGE) this.#again = true;
      }
    } catch (thrown) {
      this.#log.error("the feed could not be read; it is tried again", { error: messageOf(thrown) });
      if (this.#stop) this.#readSoon(RETRY_MS);
    } finally {
      this.#reading = false;
    }
  }
}
