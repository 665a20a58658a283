/**
 * An async iterable with bounded memory: a reader that is too slow loses the oldest items, and is told how many. Never
 * makes the writer wait: a session must not stall because nobody reads.
 */
import { sizeOf } from "./size-of.ts";

/** What a reader lost. */
interface Dropped {
  count: number;
  /** Approximately how much memory they used. */
  bytes: number;
}

/** All fields are optional. */
interface BoundedStreamOptions<Item> {
  /** Maximum size of the waiting items, in bytes; the newest item is always kept. */
  bytes?: number;
  /** Creates the item that reports a loss before the next one. */
  describeLoss?(dropped: Dropped): Item;
  onClosed?(): void;
}

/** Passes items to one reader. */
export class BoundedStream<Item> implements AsyncIterableIterator<Item> {
  readonly #limit: number;
  readonly #options: BoundedStreamOptions<Item>;
  #items: { item: Item; bytes: number }[] = [];
  #bytes = 0;
  #dropped: Dropped = { count: 0, bytes: 0 };
  #ended = false;
  #failure: { error: unknown } | undefined;
  #wake: (() => void)[] = [];

  /** `limit`: the maximum number of waiting items. */
  constructor(limit: number, options: BoundedStreamOptions<Item> = {}) {
    this.#limit = Math.max(1, limit);
    this.#options = options;
  }

  push(item: Item): void {
    if (this.#ended) return;
    const bytes = this.#options.bytes === undefined ? 0 : sizeOf(item);
    this.#items.push({ item, bytes });
    this.#bytes += bytes;
    while (this.#isFull) this.#drop();
    this.#wakeReaders();
  }

  /** No more items will follow; the waiting ones can still be read. */
  end(): void {
    this.#ended = true;
    this.#wakeReaders();
  }

  /** Ends the stream with this error, after the waiting items. */
  fail(error: unknown): void {
    if (!this.#ended) this.#failure = { error };
    this.end();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      if (this.#dropped.count > 0 && this.#options.describeLoss) {
        const value = this.#options.describeLoss(this.#dropped);
        this.#dropped = { count: 0, bytes: 0 };
        return { done: false, value };
      }
      const next = this.#items.shift();
      if (next !== undefined) {
        this.#bytes -= next.bytes;
        return { done: false, value: next.item };
      }
      if (this.#failure) {
        const { error } = this.#failure;
        this.#failure = undefined;
        throw error;
      }
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#items = [];
    this.end();
    this.#options.onClosed?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get #isFull(): boolean {
    const isOver = this.#items.length > this.#limit || this.#bytes > (this.#options.bytes ?? Number.POSITIVE_INFINITY);
    return this.#items.length > 1 && isOver;
  }

  #drop(): void {
    const oldest = this.#items.shift();
    if (!oldest) return;
    this.#bytes -= oldest.bytes;
    this.#dropped = { count: this.#dropped.count + 1, bytes: this.#dropped.bytes + oldest.bytes };
  }

  #wakeReaders(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
