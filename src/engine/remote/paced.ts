/** Runs work soon after each call: one at a time, with a pause between two starts, and never missing a call. */
import type { Clock } from "../../process/clock.ts";

export interface Paced {
  /** The work begins after this call, now or after a short pause. */
  soon(): void;
  stop(): void;
}

/** `work` must not reject. */
export function paced(
  { monotonic, after }: Pick<Clock, "monotonic" | "after">,
  pauseMs: number,
  work: () => Promise<void>,
): Paced {
  let begunAt = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  let isDue = false;
  let cancel: (() => void) | null = null;
  const run = async () => {
    cancel = null;
    isDue = false;
    isRunning = true;
    begunAt = monotonic();
    await work();
    isRunning = false;
    if (isDue) soon();
  };
  const soon = () => {
    isDue = true;
    if (isRunning || cancel) return;
    const left = begunAt + pauseMs - monotonic();
    if (left <= 0) void run();
    else cancel = after(left, () => void run());
  };
  return {
    soon,
    stop() {
      isDue = false;
      cancel?.();
      cancel = null;
    },
  };
}
