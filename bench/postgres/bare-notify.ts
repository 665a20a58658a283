/**
 * Child process: bare LISTEN and NOTIFY on PostgreSQL, with a connection each. One process listens and another one
 * notifies, as our servers do.
 */
import pg from "pg";
import { bounded } from "../../src/testing/recorder.ts";
import { answerCalls, sharedNow } from "../child-process.ts";

const CHANNEL = "bench_bare";
const PATIENCE_MS = 60_000;

let client: pg.Client;
let next = Promise.withResolvers<number>();

const calls = {
  async connect({ connectionString }: { connectionString: string }): Promise<void> {
    client = new pg.Client({ connectionString });
    await client.connect();
  },
  async listen(): Promise<void> {
    client.on("notification", () => next.resolve(sharedNow()));
    await client.query(`listen ${CHANNEL}`);
  },
  /** Forgets earlier arrivals before the next one is sent. */
  expect(): void {
    next = Promise.withResolvers();
  },
  arrival: () => bounded(next.promise, PATIENCE_MS, () => "a notification."),
  /** Returns the time of the call. */
  async notify(): Promise<number> {
    const at = sharedNow();
    await client.query(`select pg_notify('${CHANNEL}', '')`);
    return at;
  },
};

export type BareNotifyCalls = typeof calls;

answerCalls(calls);
