/**
 * Repeats work no faster than a pace: the first call at once, the last one never lost, and never two at a time, because a
 * second refetch would cut off a slow first one for ever.
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
      // A failure is the query's to show; the pace goes on.
      await Promise.allSettled([work(), pause]);
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}

/** One pacer for each key; forgets those that have not been asked for in a while. */
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
