/**
 * The SQLite driver. Every write is `begin immediate`; waiting for a lock of another process does not block the thread.
 * `data_version` shows changes of other processes; the bell says when to look at once. Does not create tables.
 */
import type { Database as Sqlite } from "bun:sqlite";
import type { LineLog } from "../../process/log.ts";
import type { Database } from "../database.ts";
import { openDatabase } from "../open-database.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import { suspectDamage } from "../sqlite-files/damage.ts";
import { type Bell, bellBeside } from "./bell.ts";
import { breaks } from "./breaks.ts";
import { codeOf, isBusy, isDamage, storeFailure } from "./failure.ts";
import { openSqlite } from "./open-sqlite.ts";

/** How often to check for commits of other processes, in ms. */
const WATCH_INTERVAL = 100;

interface SqliteDatabaseOptions {
  file: string;
  log?: LineLog;
  /** For how long to wait while another process holds the lock, in ms; 15 s when absent. */
  patience?: number;
}

export async function sqliteDatabase(options: SqliteDatabaseOptions): Promise<Database> {
  const { file, log = () => {}, patience: limit } = options;
  const connections = await openSqlite(file, log).catch((thrown) => {
    throw storeFailure(thrown, file);
  });
  const { writer, reader } = connections;
  const breakIfDue = breaks();
  const bell = bellBeside(file);
  const changes = counter(writer.handle, "select total_changes() as value");
  const fail = (thrown: unknown): never => {
    if (isDamage(thrown)) suspectDamage(file);
    // Only SQLite's own errors: a missing file in the work itself says nothing about the store.
    throw codeOf(thrown).startsWith("SQLITE_") ? storeFailure(thrown, file) : thrown;
  };

  return openDatabase({
    dialect: "sqlite",
    now: () => Date.now(),
    read: (work) => retryWhileBusy(() => work(reader.kysely), { shouldRetry: isBusy, limit }).catch(fail),
    async write(work) {
      await breakIfDue();
      await retryWhileBusy(() => writer.handle.run("begin immediate"), { shouldRetry: isBusy, limit }).catch(fail);
      try {
        const before = changes();
        const result = await work(writer.kysely);
        const changed = changes() !== before;
        // Nothing that can fail follows it: a write that is rejected has not been committed.
        writer.handle.run("commit");
        return { result, changed };
      } catch (thrown) {
        rollback(writer.handle);
        return fail(thrown);
      }
    },
    watch: (changed) => watchDataVersion(writer.handle, bell, changed),
    hurry: () => bell.ring(),
    disconnect: async () => connections.close(),
  });
}

function rollback(handle: Sqlite): void {
  if (handle.inTransaction) handle.run("rollback");
}

function counter(handle: Sqlite, query: string): () => number {
  const statement = handle.query<{ value: number }, []>(query);
  return () => statement.get()?.value ?? 0;
}

/** `data_version` of a connection changes with the commits of all other connections, but not with its own. */
function watchDataVersion(handle: Sqlite, bell: Bell, changed: () => void): () => void {
  const version = counter(handle, "select data_version as value from pragma_data_version");
  let seen = version();
  const look = () => {
    try {
      const now = version();
      if (now !== seen) changed();
      seen = now;
    } catch (thrown) {
      if (!isBusy(thrown)) changed();
    }
  };
  const timer = setInterval(look, WATCH_INTERVAL);
  timer.unref();
  const stopListening = bell.listen(look);
  return () => {
    clearInterval(timer);
    stopListening();
  };
}
