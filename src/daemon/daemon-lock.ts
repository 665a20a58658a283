/**
 * Ensures one daemon per data folder: an exclusive lock that the operating system holds for the daemon's process
 * (SQLite's own file lock, on an empty file). However the process ends, the lock ends with it, so there is no stale
 * lock. It does not say whether the daemon answers: the record in `servers/` does.
 */
import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";

const FILE = "daemon.lock";

export interface DaemonLock {
  release(): void;
}

/** Null if another process holds it. */
export function acquireDaemonLock(directory: string): DaemonLock | null {
  const file = join(directory, FILE);
  const database = openFile(directory, file);
  try {
    database.exec("pragma busy_timeout = 0");
    database.exec("begin exclusive");
    return { release: () => database.close() };
  } catch (thrown) {
    database.close();
    if (String((thrown as { code?: unknown }).code).startsWith("SQLITE_BUSY")) return null;
    throw unusable(file, thrown);
  }
}

function openFile(directory: string, file: string): Database {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const database = new Database(file, { create: true });
    chmodSync(file, 0o600);
    return database;
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

function unusable(file: string, cause: unknown): AsyncAgentsError {
  const message = `${file} cannot be locked: ${messageOf(cause)}. The data folder must be a local folder that you can write to; ASYNCAGENTS_HOME names another.`;
  return new AsyncAgentsError("daemon_unavailable", message, { cause });
}
