/**
 * Reads the store's feed as it grows, and passes on each entry once, in order, whichever process wrote it. One read at
 * a time; a failed read is repeated. Starts at the end of the feed, without history. If entries were pruned before they
 * were read here (after a long sleep, or because somebody removed a task at once), their tasks are gone, and listeners
 * are told that there is a gap.
 */
import { messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { FeedEntry, Store } from "../../store/store.ts";

const PAGE = 200;
/** When the feed is read after a change, in ms. */
export interface ReadingPace {
  /** How long a read waits for more changes. */
  before: number;
  /** How long the next one waits after it. */
  after: number;
}

/** The writer is busy with what follows from its write: reading waits a moment, unless somebody watches live. */
const PACE: ReadingPace = { before: 50, after: 0 };
/** The pause after a read that failed: perhaps nothing more is written. */
const RETRY_MS = 1_000;

/** Gets new entries of the feed, in order; the next ones are read when it is done. */
export type EntriesListener = (entries: readonly FeedEntry[]) => void | Promise<void>;

/** What those need who watch the store. */
export interface WatchContext extends Pick<Clock, "after"> {
  store: Store;
  log: Log;
}

export class Changes {
  readonly #context: WatchContext;
  readonly #pace: ReadingPace;
  readonly #listeners = new Set<EntriesListener>();
  readonly #gapListeners = new Set<() => void>();
  #seq = 0;
  /** Up to where listeners know of what was pruned. */
  #gapsTo = 0;
  #stop: (() => void) | null = null;
  /** Cancels a read that is scheduled, or the pause after one. */
  #cancelRead: (() => void) | null = null;
  #reading = false;
  /** Something was written since the last read began. */
  #isDue = false;

  constructor(context: WatchContext, pace = PACE) {
    this.#context = context;
    this.#pace = pace;
  }

  async start(): Promise<void> {
    const seq = await this.#context.store.lastSeq();
    // Another call was faster.
    if (this.#stop) return;
    this.#seq = seq;
    const stop = this.#context.store.onChange(() => this.#changed());
    this.#stop = () => {
      stop();
      this.#cancelRead?.();
      this.#cancelRead = null;
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

  /** Called when tasks may have ended and been pruned without an entry for the listeners. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** Once for everything that was written until then. */
  #changed(): void {
    this.#isDue = true;
    if (this.#cancelRead !== null) return;
    if (this.#pace.before > 0) this.#readAfter(this.#pace.before);
    else void this.#read();
  }

  #readAfter(ms: number): void {
    this.#cancelRead ??= this.#context.after(ms, () => {
      this.#cancelRead = null;
      if (this.#isDue) void this.#read();
    });
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#isDue && this.#stop) {
        this.#isDue = false;
        const session = this.#stop;
        const entries = await this.#context.store.feed(this.#seq, PAGE);
        if (await this.#hasGap(entries)) for (const listener of this.#gapListeners) listener();
        // A copy: whoever listens from now on gets the next ones.
        if (entries.length > 0) for (const listener of [...this.#listeners]) await listener(entries);
        // It was stopped, and possibly started again further on: this page is out of date.
        if (this.#stop !== session) this.#isDue = true;
        else this.#seq = entries.at(-1)?.seq ?? this.#seq;
        if (entries.length === PAGE) this.#isDue = true;
        else if (this.#pace.after > 0) break;
      }
      if (this.#stop && this.#pace.after > 0) this.#readAfter(this.#pace.after);
    } catch (thrown) {
      this.#context.log.error("the feed could not be read; it is tried again", { error: messageOf(thrown) });
      this.#isDue = true;
      if (this.#stop) this.#readAfter(RETRY_MS);
    } finally {
      this.#reading = false;
    }
  }

  /** Whether entries were pruned before they were read here, perhaps all there were. Once for the same entries. */
  async #hasGap(entries: readonly FeedEntry[]): Promise<boolean> {
    // Numbers that are missing are usually progress that was superseded, or a write that failed.
    if (entries.at(-1)?.seq === this.#seq + entries.length) return false;
    const known = Math.max(this.#seq, this.#gapsTo);
    this.#gapsTo = (await this.#context.store.pruned()).seq;
    return this.#gapsTo > known;
  }
}
