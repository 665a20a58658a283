/**
 * Rate-limits repeated work: the first call runs immediately, the last one is never lost, and never two at a time,
 * because a second refetch would forever cut off a slow first one.
 */

export type Pacer = () => void;

export function pacer(paceMs: number, work: () => Promise<unknown> | undefined): Pacer {
  let isBusy = false;
  let isWanted = false;
  const run = async () => {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      const pause = new Promise((resolve) => setTimeout(resolve, paceMs));
      // The query shows its own failure; the pacer continues.
      await Promise.allSettled([work(), pause]);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}

/** One pacer per key; forgets those that have not been used for a while. */
export function keyedPacers(paceMs: number, work: (key: string) => Promise<unknown> | undefined, limit = 200) {
  const pacers = new Map<string, Pacer>();
  return (key: string) => {
    const known = pacers.get(key) ?? pacer(paceMs, () => work(key));
    pacers.delete(key);
    pacers.set(key, known);
    const oldest = pacers.keys().next().value;
    if (pacers.size > limit && oldest !== undefined) pacers.delete(oldest);
    known();
  };
}
