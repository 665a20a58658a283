/**
 * That there is one daemon for a data folder: an exclusive lock which the operating system holds for the daemon's process
 * (SQLite's own file lock, on a file without content). However the process ends, the lock ends with it, so there is no stale
 * one to judge. It says nothing about whether the daemon answers: its record in `servers/` does.
 */
import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";

const FILE = "daemon.lock";

export interface DaemonLock {
  release(): void;
}

/** Null where another process holds it. */
export function takeDaemonLock(directory: string): DaemonLock | null {
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
