/**
 * When the next poll is due: never two within `pollMs`. The driver decides whether one is needed, and does it.
 */
import type { EngineContext } from "../context.ts";

export class PollTimer {
  readonly #context: Pick<EngineContext, "settings" | "monotonic" | "after">;
  readonly #poll: () => Promise<void>;
  #cancel: (() => void) | null = null;
  #lastPoll = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(context: Pick<EngineContext, "settings" | "monotonic" | "after">, poll: () => Promise<void>) {
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
    this.#cancel?.();
    this.#cancel = null;
  }

  #schedule(delay: number): void {
    if (this.#cancel || this.#isStopped) return;
    this.#cancel = this.#context.after(delay, () => {
      this.#cancel = null;
      this.#lastPoll = this.#context.monotonic();
      void this.#poll();
    });
  }
}
