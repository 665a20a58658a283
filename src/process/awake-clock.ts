/**
 * The clock for durations: how long this process has been awake, in milliseconds. Setting the wall clock does not move it,
 * and neither does a machine that sleeps: the clocks of some runtimes go on during sleep (Bun 1.3 on Linux), so no single
 * step counts for more than a minute. Whoever measures with it looks at it more often than that.
 */

const LONGEST_STEP_MS = 60_000;

/** A clock of its own over any that never goes back. */
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

/** The one of this process. */
export const awakeNow = awakeClock(() => performance.now());
