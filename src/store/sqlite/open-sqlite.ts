/**
 * Opens a SQLite store: folder, presence lock, two connections (a read must not see an open write), and handles damage.
 * If it fails, nothing is left open. Does not create tables.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { LineLog } from "../../process/log.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import { checkForDamage, damagedAndInUse, isSuspect, lockFileOf } from "../sqlite-files/damage.ts";
import { isHalfReplaced } from "../sqlite-files/replace.ts";
import { makePrivateFile, type SqliteConnection, sqliteConnection } from "./connection.ts";
import { isBusy, isDamage } from "./failure.ts";
import { type Lock, tryLock } from "./file-lock.ts";

interface SqliteConnections {
  writer: SqliteConnection;
  reader: SqliteConnection;
  close(): void;
}

/** How long to wait for another process that may be setting the damaged file aside, in ms. */
const DAMAGE_PATIENCE = 3_000;

export async function openSqlite(file: string, log: LineLog): Promise<SqliteConnections> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (isSuspect(file)) checkForDamage(file, log);
  const deadline = performance.now() + DAMAGE_PATIENCE;
  for (;;) {
    const presence = await enter(file);
    if (isHalfReplaced(file)) {
      presence.release();
      if (!checkForDamage(file, log)) await Bun.sleep(10);
      continue;
    }
    try {
      return await retryWhileBusy(() => connect(file, presence), { shouldRetry: isBusy });
    } catch (thrown) {
      presence.release();
      if (!isDamage(thrown)) throw thrown;
      if (checkForDamage(file, log)) continue;
      if (performance.now() >= deadline) throw damagedAndInUse(file, thrown);
      await Bun.sleep(100);
    }
  }
}

async function enter(file: string): Promise<Lock> {
  const busy = Object.assign(new Error("the store is being checked by another process"), { code: "SQLITE_BUSY" });
  return retryWhileBusy(
    () => {
      const lock = tryLock(lockFileOf(file), "present");
      if (lock === null) throw busy;
      return lock;
    },
    { shouldRetry: isBusy },
  );
}

function connect(file: string, presence: Lock): SqliteConnections {
  makePrivateFile(file);
  const writer = sqliteConnection(file, "write");
  try {
    const reader = sqliteConnection(file, "read");
    meetDamage(reader);
    const close = () => {
      reader.close();
      writer.close();
      presence.release();
    };
    return { writer, reader, close };
  } catch (thrown) {
    writer.close();
    throw thrown;
  }
}

/** Reads part of the header and of the tables that every use begins with: most damage shows here. */
function meetDamage({ handle }: SqliteConnection): void {
  const made = handle.query<{ tables: number }, []>(
    "select count(*) as tables from sqlite_schema where name = 'tasks'",
  );
  if (made.get()?.tables !== 1) return;
  handle.query("select value from meta where key = 'schema_version'").get();
  handle.query("select max(seq) from events").get();
  handle.query("select id from tasks where live = 1 limit 1").get();
}
