/**
 * Reads the store's feed as it grows and hands each entry out once, in order, whichever process wrote it. One read at
 * a time; a failed read is tried again at the next change. Starts at the end of the feed: history is not replayed.
 */
import { messageOf } from "../model/errors.ts";
import type { FeedEntry, Store } from "../store/store.ts";
import type { Log } from "./context.ts";

const PAGE = 200;
const PAUSE_MS = 50;

export class Changes {
  readonly #store: Store;
  readonly #log: Log;
  readonly #listeners = new Set<(entry: FeedEntry) => void>();
  #seq = 0;
  #stop: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reading = false;
  #again = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#seq = await this.#store.lastSeq();
    const stop = this.#store.onChange(() => this.#readSoon());
    this.#stop = () => {
      stop();
      clearTimeout(this.#timer ?? undefined);
    };
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  onEntry(listener: (entry: FeedEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A moment later, and once for all that was written meanwhile: who wrote is busy with what follows from it. */
  #readSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, PAUSE_MS);
  }

  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && this.#stop) {
        this.#again = false;
        const entries = await this.#store.feed(this.#seq, PAGE);
        for (const entry of entries) {
          this.#seq = entry.seq;
          for (const listener of this.#listeners) listener(entry);
        }
        if (entries.length === PAGE) this.#again = true;
      }
    } catch (thrown) {
      this.#log.error("the feed could not be read; it is tried again at the next change", { error: messageOf(thrown) });
    } finally {
      this.#reading = false;
    }
  }
}
