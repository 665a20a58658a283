/**
 * Holds work back while tasks are being launched: agents that start to work would slow down the launches beside them, and
 * the parent that waits for those. Held work begins after a pause without launches, or when it was held long enough.
 */

/** A model's next call in the same answer comes sooner than `pauseMs`, and so does its next request after the last one. */
const TIMES = { pauseMs: 60, longestMs: 2_000 };

export class Lull {
  readonly #times: typeof TIMES;
  #launching = 0;
  readonly #held = new Set<() => void>();
  #pause: ReturnType<typeof setTimeout> | null = null;
  #longest: ReturnType<typeof setTimeout> | null = null;

  constructor(times = TIMES) {
    this.#times = times;
  }

  /** Runs a launch; until it has returned, and for a moment after that, held work waits. */
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
    this.#longest ??= setTimeout(() => this.#release(), this.#times.longestMs);
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
    this.#pause = setTimeout(() => this.#release(), this.#times.pauseMs);
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
