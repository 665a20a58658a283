/**
 * Message ids for hosts whose messages are named by UUIDs: version 7, so that each id sorts after all those that this
 * process made before, also when the clock is set back. Runs on Bun and on Node, which has no such function of its own.
 */
import { randomUUID } from "node:crypto";

const COUNTS_PER_MS = 0x1000;

export function messageIds(now: () => number = Date.now): () => string {
  let ms = 0;
  let count = 0;
  return () => {
    const at = now();
    count = at > ms ? 0 : count + 1;
    ms = Math.max(at, ms);
    if (count === COUNTS_PER_MS) {
      count = 0;
      ms++;
    }
    const time = ms.toString(16).padStart(12, "0");
    const order = count.toString(16).padStart(3, "0");
    // The rest of a random UUID begins with its variant, which is the same in version 7.
    return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${randomUUID().slice(19)}`;
  };
}
