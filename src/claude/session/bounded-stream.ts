/**
 * An async iterable with a bounded memory: a reader that is too slow loses the oldest items, and is told how many.
 * It never makes the writer wait: a session must not stand still because somebody does not read.
 */
import { sizeOf } from "./size-of.ts";

/** What a reader lost. */
export interface Dropped {
  count: number;
  /** About how much memory they took. */
  bytes: number;
}

/** All of it can be left out. */
export interface StreamOptions<Item> {
  /** So much waits at the most, in bytes; the newest item always does. */
  bytes?: number;
  /** Makes the item that says what was lost before the next one. */
  told?(dropped: Dropped): Item;
  onClosed?(): void;
}

/** Hands items to one reader. */
export class BoundedStream<Item> implements AsyncIterableIterator<Item> {
  readonly #limit: number;
  readonly #options: StreamOptions<Item>;
  #items: { item: Item; bytes: number }[] = [];
  #bytes = 0;
  #dropped: Dropped = { count: 0, bytes: 0 };
  #ended = false;
  #failure: { error: unknown } | undefined;
  #wake: (() => void)[] = [];

  /** So many items wait at the most. */
  constructor(limit: number, options: StreamOptions<Item> = {}) {
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

  /** No more will come; what is there can still be read. */
  end(): void {
    this.#ended = true;
    this.#wakeReaders();
  }

  /** No more will come, because of this error: the reader meets it after what is there. */
  fail(error: unknown): void {
    if (!this.#ended) this.#failure = { error };
    this.end();
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      if (this.#dropped.count > 0 && this.#options.told) {
        const value = this.#options.told(this.#dropped);
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
