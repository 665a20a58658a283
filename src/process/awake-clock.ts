/**
 * The clock for durations: how long this process has been awake, in milliseconds. Setting the wall clock does not move
 * it, and neither does a machine that sleeps. The clocks of some runtimes continue during sleep (Bun 1.3 on Linux), so
 * a single step counts for a minute at most; read the clock more often than that.
 */

const LONGEST_STEP_MS = 60_000;

/** Makes such a clock from any clock that never goes back. */
export function awakeClock(read: () => number): () => number {
  let last = read();
  let awake = 0;
  return () => {
    const now = read();
    awake += Math.min(Math.max(0, now - last), LONGEST_STEP_MS);
    last = now;
    return awake;
  };
}

/** The clock of this process. */
export const awakeNow = awakeClock(() => performance.now());
