/**
 * What an instance knows of its own lease: whether it may still act, by its own clocks since the last heartbeat that
 * the database accepted. It counts from before that heartbeat was sent, and stops a while before the lease is over, so
 * what leaves the process in time was sent under the lease. What was begun under the lease that was lost is not gone on
 * with under the next one: its term has changed. Knows nothing of other instances.
 */
import type { Clock } from "../../process/clock.ts";

/** The length of a lease. Three heartbeats may fail before others take over. */
export const LEASE_MS = 30_000;
/** For the way of what is sent, and for clocks that do not run at the same speed. */
const MARGIN_MS = 5_000;

export class Lease {
  readonly #clocks: Pick<Clock, "now" | "monotonic">;
  readonly #ms: number;
  #held: { awake: number; wall: number } | null = null;
  #waiting: (() => void)[] = [];
  #isEnded = false;
  #term = 0;

  constructor(clocks: Pick<Clock, "now" | "monotonic">, ms: number) {
    this.#clocks = clocks;
    this.#ms = ms;
  }

  /**
   * Both clocks must agree: the one for durations may stand still while the machine sleeps, and somebody may set the
   * other.
   */
  get isHeld(): boolean {
    if (this.#held === null) return false;
    const { now, monotonic } = this.#clocks;
    return Math.max(monotonic() - this.#held.awake, now() - this.#held.wall) < this.#ms - MARGIN_MS;
  }

  /** How often it was lost: what the instance had before may belong to others. */
  get term(): number {
    return this.#term;
  }

  /** Called before a heartbeat is sent. The returned function is called when the database has accepted it. */
  renew(): () => void {
    const { now, monotonic } = this.#clocks;
    const sent = { awake: monotonic(), wall: now() };
    return () => {
      this.#held = sent;
      if (this.isHeld) this.#wake();
    };
  }

  /** Others may take over what the instance has, or did so: it acts again after the next renewal. */
  lose(): void {
    this.#term++;
    this.#held = null;
  }

  /** Resolves when it is held, or will never be again. */
  async untilHeld(): Promise<void> {
    while (!this.isHeld && !this.#isEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The instance ends: nobody waits for it any more. */
  end(): void {
    this.#isEnded = true;
    this.lose();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
