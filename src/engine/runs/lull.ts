/**
 * Holds work back while tasks are being launched: agents that start to work would slow down the other launches, and the
 * parent that waits for them. Held work begins after a pause without launches, or after two seconds at the latest.
 */

const LONGEST_MS = 2_000;

export class Lull {
  readonly #pauseMs: number;
  readonly #longestMs: number;
  #launching = 0;
  readonly #held = new Set<() => void>();
  #pause: ReturnType<typeof setTimeout> | null = null;
  #longest: ReturnType<typeof setTimeout> | null = null;

  constructor({ pauseMs, longestMs = LONGEST_MS }: { pauseMs: number; longestMs?: number }) {
    this.#pauseMs = pauseMs;
    this.#longestMs = longestMs;
  }

  /** Runs a launch. Held work waits until it has returned, and a moment longer. */
  async during<T>(launch: () => Promise<T>): Promise<T> {
    this.#launching++;
    try {
      return await launch();
    } finally {
      this.#launching--;
      this.#wait();
    }
  }

  /** Runs the work when no launch is under way. */
  after(work: () => void): void {
    this.#held.add(work);
    this.#longest ??= setTimeout(() => this.#release(), this.#longestMs);
    this.#wait();
  }

  stop(): void {
    this.#held.clear();
    this.#clearTimers();
  }

  #wait(): void {
    if (this.#pause) clearTimeout(this.#pause);
    this.#pause = null;
    if (this.#held.size === 0 || this.#launching > 0) return;
    this.#pause = setTimeout(() => this.#release(), this.#pauseMs);
  }

  #release(): void {
    this.#clearTimers();
    const works = [...this.#held];
    this.#held.clear();
    for (const work of works) work();
  }

  #clearTimers(): void {
    if (this.#pause) clearTimeout(this.#pause);
    if (this.#longest) clearTimeout(this.#longest);
    this.#pause = null;
    this.#longest = null;
  }
}
