/**
 * When the next poll is due: never two within `pollMs`. The driver decides whether one is needed, and does it.
 */
import type { EngineContext } from "../context.ts";

export class PollTimer {
  readonly #context: Pick<EngineContext, "settings" | "monotonic">;
  readonly #poll: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lastPoll = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(context: Pick<EngineContext, "settings" | "monotonic">, poll: () => Promise<void>) {
    this.#context = context;
    this.#poll = poll;
  }

  later(): void {
    this.#schedule(this.#context.settings.pollMs);
  }

  /** Polls as soon as the last poll is `pollMs` ago. */
  soon(): void {
    this.#clear();
    this.#schedule(Math.max(0, this.#lastPoll + this.#context.settings.pollMs - this.#context.monotonic()));
  }

  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  #clear(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(delay: number): void {
    if (this.#timer || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#lastPoll = this.#context.monotonic();
      void this.#poll();
    }, delay);
  }
}
