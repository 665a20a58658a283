/**
 * One connection that LISTENs, and reconnects with bounded backoff. Calls back once after each (re)connection, since
 * something may have been missed, and every few seconds: a process may die between its commit and its announcement.
 * Never throws; never keeps the process alive.
 */
import type { Client } from "pg";

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
const POLL_MS = 3_000;

/** `connect` creates an unconnected client. Returns a function that stops listening. */
export function postgresListener(connect: () => Client, channel: string, changed: () => void): () => void {
  let stopped = false;
  let pause = FIRST_PAUSE;
  let client: Client | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  const again = (lost: Client) => {
    if (stopped || client !== lost) return;
    client = null;
    lost.end().catch(() => {});
    timer = setTimeout(start, pause * (0.5 + Math.random()));
    timer.unref();
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
  const start = () => {
    const next = connect();
    client = next;
    next.on("error", () => again(next));
    next.on("end", () => again(next));
    next.on("notification", changed);
    next
      .connect()
      .then(() => next.query(`listen "${channel}"`))
      .then(() => {
        // Missing from the types.
        (next as Client & { unref?: () => void }).unref?.();
        pause = FIRST_PAUSE;
        changed();
      })
      .catch(() => again(next));
  };
  start();
  const poll = setInterval(changed, POLL_MS);
  poll.unref();

  return () => {
    stopped = true;
    clearInterval(poll);
    if (timer !== null) clearTimeout(timer);
    client?.end().catch(() => {});
  };
}
