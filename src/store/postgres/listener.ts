/**
 * One connection that LISTENs, and reconnects with bounded backoff. Calls back once after each (re)connection, since
 * something may have been missed, and every few seconds: a process may die between its commit and its announcement.
 * Asks the server for a sign of life once in a while: a firewall may forget a silent connection, and tell nobody.
 * Never throws; never keeps the process alive.
 */
import type { Client } from "pg";

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
const POLL_MS = 3_000;
const CHECK_MS = 30_000;
const ANSWER_MS = 5_000;

/** `connect` creates an unconnected client. Returns a function that stops listening. */
export function postgresListener(
  connect: () => Client,
  channel: string,
  changed: () => void,
  { checkMs = CHECK_MS, answerMs = ANSWER_MS } = {},
): () => void {
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
  const check = () => {
    const asked = client;
    // Missing from the types.
    const question = { text: "select 1", query_timeout: answerMs } as { text: string };
    asked?.query(question).catch(() => again(asked));
  };
  const poll = setInterval(changed, POLL_MS);
  const checks = setInterval(check, checkMs);
  for (const timer of [poll, checks]) timer.unref();

  return () => {
    stopped = true;
    clearInterval(poll);
    clearInterval(checks);
    if (timer !== null) clearTimeout(timer);
    client?.end().catch(() => {});
  };
}
