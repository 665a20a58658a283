/**
 * Runs pieces of work one at a time, in the order of the calls. Work that fails does not hold up the next. After some
 * time of back-to-back work the event loop gets a turn: bun:sqlite, for one, never gives the thread back by itself.
 * Orders the calls of this process only.
 */

/** How long work may follow work before timers and sockets get a turn, in milliseconds. */
const LONGEST_STREAK_MS = 10;

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** How many calls have not settled yet. */
  #size = 0;
  /** When back-to-back work began; null once the event loop has had a turn. */
  #streakBegan: number | null = null;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#size++;
    const done = this.#last.then(() => this.#yieldIfDue()).then(work);
    const settled = () => {
      this.#size--;
    };
    this.#last = done.then(settled, settled);
    return done;
  }

  /** Resolves once everything queued so far has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }

  async #yieldIfDue(): Promise<void> {
    const began = this.#streakBegan;
    if (began !== null && performance.now() - began >= LONGEST_STREAK_MS) {
      await new Promise<void>((resolve) => setImmediate(() => resolve()));
    }
    if (this.#streakBegan !== null) return;
    this.#streakBegan = performance.now();
    setImmediate(() => {
      this.#streakBegan = null;
    });
  }
}
