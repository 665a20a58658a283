/**
 * An async iterable with a bounded memory: a reader that is too slow loses the oldest items, and is told how many.
 * It never makes the writer wait: a session must not stand still because somebody does not read.
 */

/** Hands items to one reader. */
export class BoundedStream<Item> implements AsyncIterableIterator<Item> {
  readonly #limit: number;
  readonly #told: ((dropped: number) => Item) | undefined;
  readonly #onClosed: () => void;
  #items: Item[] = [];
  #dropped = 0;
  #ended = false;
  #failure: { error: unknown } | undefined;
  #wake: (() => void)[] = [];

  /** `told` makes the item that says how many were lost before the next one. */
  constructor(limit: number, told?: (dropped: number) => Item, onClosed: () => void = () => {}) {
    this.#limit = Math.max(1, limit);
    this.#told = told;
    this.#onClosed = onClosed;
  }

  push(item: Item): void {
    if (this.#ended) return;
    this.#items.push(item);
    if (this.#items.length > this.#limit) {
      this.#items.shift();
      this.#dropped++;
    }
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
      if (this.#dropped > 0 && this.#told) {
        const value = this.#told(this.#dropped);
        this.#dropped = 0;
        return { done: false, value };
      }
      const [item] = this.#items.splice(0, 1);
      if (item !== undefined) return { done: false, value: item };
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
    this.#onClosed();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wakeReaders(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
