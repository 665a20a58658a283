/**
 * A queue in which one piece of work runs at a time, in the order of the calls. Between two of them the event loop gets
 * its turn when the last one is some time ago: bun:sqlite never gives the thread back by itself.
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
  let yielded = 0;
  const breathe = async () => {
    if (performance.now() - yielded < STREAK) return;
    await new Promise((resolve) => setImmediate(resolve));
    yielded = performance.now();
  };
  return {
    take(work) {
      const done = last.then(breathe).then(work);
      last = done.catch(() => {});
      return done;
    },
    async idle() {
      await last;
    },
  };
}
