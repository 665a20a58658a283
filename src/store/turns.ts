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
  /** When work began to follow upon work; null once the event loop has had a turn. */
  let streak: number | null = null;
  const breathe = async () => {
    if (streak !== null && performance.now() - streak >= STREAK) await new Promise((resolve) => setImmediate(resolve));
    if (streak !== null) return;
    streak = performance.now();
    setImmediate(() => {
      streak = null;
    });
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
