/**
 * What both drivers do around their queries: writes run one at a time, listeners hear of each change, nothing runs
 * after `close`, and closing waits for the writes that were queued. The driver talks to its database, and words its
 * failures.
 */
import type { Kysely } from "kysely";
import { AsyncAgentsError } from "../model/errors.ts";
import { SerialQueue } from "../process/serial-queue.ts";
import { changeSignal } from "./change-signal.ts";
import type { Database, Dialect } from "./database.ts";
import type { Schema } from "./schema.ts";

interface DatabaseDriver {
  dialect: Dialect;
  clock: Database["clock"];
  read: Database["read"];
  /** Runs `work` in one write transaction, and says whether it changed something. */
  write<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<{ result: T; changed: boolean }>;
  /** Watches for changes by other processes. Returns a function that stops. */
  watch(changed: () => void): () => void;
  /** Has other processes look for changes at once; absent if they always do. */
  hurry?(): void;
  /** Closes the connections. Called once. */
  disconnect(): Promise<void>;
}

export function openDatabase(driver: DatabaseDriver): Database {
  const queue = new SerialQueue();
  const signal = changeSignal(() => driver.watch(() => signal.raise()));
  let closed = false;
  const ensureOpen = () => {
    if (closed) throw new AsyncAgentsError("store_unavailable", "The task store was closed. Open it again.");
  };
  return {
    dialect: driver.dialect,
    clock: driver.clock,
    async read(work) {
      ensureOpen();
      return driver.read(work);
    },
    async write(work) {
      ensureOpen();
      return queue.run(async () => {
        const { result, changed } = await driver.write(work);
        if (changed) signal.raise();
        return result;
      });
    },
    onChange: (listener) => signal.listen(listener),
    hurry: () => driver.hurry?.(),
    async close() {
      if (closed) return;
      closed = true;
      await queue.idle();
      signal.stop();
      await driver.disconnect();
    },
  };
}
