/**
 * What both drivers do around their queries: at most so many writes run at a time, listeners hear of each change,
 * nothing runs after `close`, and closing waits for the writes that were queued. The driver talks to its database, and
 * words its failures.
 */
import type { Kysely } from "kysely";
import { AsyncAgentsError } from "../model/errors.ts";
import { LimitedQueue } from "../process/limited-queue.ts";
import { changeSignal } from "./change-signal.ts";
import type { Database, Dialect, WriteOptions } from "./database.ts";
import type { Schema } from "./schema.ts";

interface DatabaseDriver {
  dialect: Dialect;
  now: Database["now"];
  /** How many writes may run at a time; 1 when absent. */
  mostWrites?: number;
  read: Database["read"];
  /** Whether urgent writes have connections of their own. */
  hasUrgentWrites?: boolean;
  /** Runs `work` in one write transaction, and says whether it changed something. */
  write<T>(
    work: (kysely: Kysely<Schema>) => Promise<T>,
    options: WriteOptions,
  ): Promise<{ result: T; changed: boolean }>;
  orderEvents?: () => Promise<void>;
  /** Watches for changes by other processes. Returns a function that stops. */
  watch(changed: () => void): () => void;
  /** Has other processes look for changes at once; absent if they always do. */
  hurry?(): void;
  /** Closes the connections. Called once. */
  disconnect(): Promise<void>;
}

export function openDatabase(driver: DatabaseDriver): Database {
  const queue = new LimitedQueue(driver.mostWrites ?? 1);
  const urgent = driver.hasUrgentWrites ? new LimitedQueue(1) : queue;
  const { orderEvents } = driver;
  const signal = changeSignal(() => driver.watch(() => signal.raise()));
  let closed = false;
  const ensureOpen = () => {
    if (closed) throw new AsyncAgentsError("store_unavailable", "The task store was closed. Open it again.");
  };
  return {
    dialect: driver.dialect,
    now: driver.now,
    async read(work) {
      ensureOpen();
      return driver.read(work);
    },
    async write(work, options = {}) {
      ensureOpen();
      return (options.isUrgent ? urgent : queue).run(async () => {
        const { result, changed } = await driver.write(work, options);
        if (changed) signal.raise();
        return result;
      });
    },
    ...(orderEvents && {
      async orderEvents() {
        ensureOpen();
        await orderEvents();
      },
    }),
    onChange: (listener) => signal.listen(listener),
    hurry: () => driver.hurry?.(),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([queue.idle(), urgent.idle()]);
      signal.stop();
      await driver.disconnect();
    },
  };
}
