/**
 * A queue in which one piece of work runs at a time, in the order of the calls. Between two of them the event loop gets
 * its turn after some time of work upon work: bun:sqlite never gives the thread back by itself.
 */

/** How long work may follow upon work before timers and sockets get a turn, in ms. */
const STREAK = 10;

export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything taken so far is done. */
  idle(): Promise<void>;
}

export function turns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** When the work that follows upon work began; work that finds the queue empty begins anew. */
  let streak = 0;
  const breathe = async () => {
    if (performance.now() - streak < STREAK) return;
    await new Promise((resolve) => setImmediate(resolve));
    streak = performance.now();
  };
  return {
    take(work) {
      if (waiting++ === 0) streak = performance.now();
      const done = last.then(breathe).then(work);
      last = done.then(
        () => waiting--,
        () => waiting--,
      );
      return done;
    },
    async idle() {
      await last;
    },
  };
}
