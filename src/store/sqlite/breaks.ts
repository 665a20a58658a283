/**
 * Breaks between pieces of work that never yield the thread, as those of bun:sqlite: after some time of continuous work
 * the event loop gets a turn, so that timers and sockets are served. Does not order the work.
 */

/** How long work may run without a break, in ms. */
const LONGEST_STREAK_MS = 10;

/** Returns a function to await before each piece of work: it takes a break if one is due. */
export function breaks(): () => Promise<void> {
  /** When continuous work began. Null once the event loop has had a turn. */
  let streakBegan: number | null = null;
  return async () => {
    if (streakBegan !== null && performance.now() - streakBegan >= LONGEST_STREAK_MS) {
      await new Promise<void>((resolve) => setImmediate(() => resolve()));
    }
    if (streakBegan !== null) return;
    streakBegan = performance.now();
    setImmediate(() => {
      streakBegan = null;
    });
  };
}
