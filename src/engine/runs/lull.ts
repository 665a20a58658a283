/**
 * Holds work back while tasks are being launched: agents that start to work would slow down the other launches, and the
 * parent that waits for them. Held work begins after a pause without launches, or after two seconds at the latest.
 */
import type { Clock } from "../../process/clock.ts";

const LONGEST_MS = 2_000;

interface LullOptions {
  clock: Pick<Clock, "after">;
  pauseMs: number;
  longestMs?: number;
}

export class Lull {
  readonly #clock: Pick<Clock, "after">;
  readonly #pauseMs: number;
  readonly #longestMs: number;
  #launching = 0;
  readonly #held = new Set<() => void>();
  #cancelPause: (() => void) | null = null;
  #cancelLongest: (() => void) | null = null;

  constructor({ clock, pauseMs, longestMs = LONGEST_MS }: LullOptions) {
    this.#clock = clock;
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
    this.#cancelLongest ??= this.#clock.after(this.#longestMs, () => this.#release());
    this.#wait();
  }

  stop(): void {
    this.#held.clear();
    this.#clearTimers();
  }

  #wait(): void {
    this.#cancelPause?.();
    this.#cancelPause = null;
    if (this.#held.size === 0 || this.#launching > 0) return;
    this.#cancelPause = this.#clock.after(this.#pauseMs, () => this.#release());
  }

  #release(): void {
    this.#clearTimers();
    const works = [...this.#held];
    this.#held.clear();
    for (const work of works) work();
  }

  #clearTimers(): void {
    this.#cancelPause?.();
    this.#cancelLongest?.();
    this.#cancelPause = null;
    this.#cancelLongest = null;
  }
}
