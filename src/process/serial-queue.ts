/**
 * Runs pieces of work one at a time, in the order of the calls. A failure does not affect the next piece. After some
 * time of continuous work the event loop gets a turn: bun:sqlite, for example, never yields the thread. Orders only the
 * calls of this process.
 */

/** How long work may run without a break before timers and sockets get a turn, in milliseconds. */
const LONGEST_STREAK_MS = 10;

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** How many calls have not settled yet. */
  #size = 0;
  /** When continuous work began. Null once the event loop has had a turn. */
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
