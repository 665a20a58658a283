/**
 * Locks between processes that die with their holder, kill -9 included: SQLite's own file locks on an empty side file.
 * `present` (shared): I use this store. `mirroring` (one at a time, beside the present ones): I write tasks.json.
 * `alone` (exclusive): nobody else is in, and nobody comes in. Nothing is ever written to the side file.
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

/** Takes a lock at once, or returns null when somebody else stands against it. */
export function takeLock(file: string, level: keyof typeof BEGIN): Lock | null {
  makePrivateFile(file);
  const handle = new Sqlite(file, { readwrite: true, create: true });
  try {
    handle.run("pragma busy_timeout = 0");
    // A journal in memory: a killed holder then leaves no file that others would have to roll back.
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
