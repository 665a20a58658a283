/**
 * Locks between processes that end with their holder, even after kill -9: SQLite's file locks on an empty side file.
 * `present` (shared): I use this store. `mirroring` (one at a time, beside `present` locks): I write tasks.json.
 * `alone` (exclusive): no other process uses the store or can open it. Nothing is ever written to the side file.
 */
import { Database as Sqlite } from "bun:sqlite";
import { makePrivateFile } from "./connection.ts";
import { isBusy } from "./failure.ts";

export interface Lock {
  release(): void;
}

const BEGIN = {
  present: "begin deferred",
  mirroring: "begin immediate",
  alone: "begin exclusive",
} as const;

/** Acquires a lock at once, or returns null if another process holds a conflicting one. */
export function tryLock(file: string, level: keyof typeof BEGIN): Lock | null {
  makePrivateFile(file);
  const handle = new Sqlite(file, { readwrite: true, create: true });
  try {
    handle.run("pragma busy_timeout = 0");
    // An in-memory journal: a killed holder then leaves no file that others would have to roll back.
    handle.run("pragma journal_mode = memory");
    handle.run(BEGIN[level]);
    handle.query("select count(*) from sqlite_schema").get();
  } catch (thrown) {
    handle.close();
    if (isBusy(thrown)) return null;
    throw thrown;
  }
  return { release: () => handle.close() };
}
