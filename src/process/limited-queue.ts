/**
 * Runs pieces of work in the order of the calls, at most so many at a time; the others wait, however long. A failure
 * does not affect the next piece. Orders only the calls of this process.
 */
export class LimitedQueue {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #idle: PromiseWithResolvers<void> | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    // Whoever ends hands over its place.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else if (--this.#running === 0) this.#idle?.resolve();
    }
  }

  /** Resolves once nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    this.#idle = this.#idle ?? Promise.withResolvers<void>();
    await this.#idle.promise;
    this.#idle = null;
  }
}
