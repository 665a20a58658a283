/**
 * What happens to a damaged SQLite file: checked in full and set aside (never deleted), and only by a process that has
 * proved that nobody else uses the store. Runs when opening or a query signals damage, never at an ordinary start.
 */
import { Database as Sqlite } from "bun:sqlite";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Log } from "./database.ts";
import { takeLock } from "./presence.ts";
import { isDamage } from "./sqlite-failure.ts";

export function lockFileOf(file: string): string {
  return file.replace(/\.db$/, "").concat(".lock");
}

function suspicionOf(file: string): string {
  return `${file}.suspect`;
}

/** Notes that a query met damage, so that the next start checks the whole file. */
export function suspectDamage(file: string): void {
  try {
    writeFileSync(suspicionOf(file), "", { mode: 0o600 });
  } catch {
    // The query's own error is already on its way to the caller.
  }
}

export function isSuspect(file: string): boolean {
  return existsSync(suspicionOf(file));
}

/** Checks the file and sets it aside if it is damaged. False, with nothing done, when another process is in. */
export function checkForDamage(file: string, log: Log): boolean {
  const lock = takeLock(lockFileOf(file), "alone");
  if (lock === null) return false;
  try {
    if (!isSound(file)) setAside(file, log);
    rmSync(suspicionOf(file), { force: true });
    return true;
  } finally {
    lock.release();
  }
}

function isSound(file: string): boolean {
  if (!existsSync(file)) return true;
  try {
    const handle = new Sqlite(file, { readwrite: true });
    try {
      const row = handle.query<{ integrity_check: string }, []>("pragma integrity_check(1)").get();
      return row?.integrity_check === "ok";
    } finally {
      handle.close();
    }
  } catch (thrown) {
    if (isDamage(thrown)) return false;
    throw thrown;
  }
}

function setAside(file: string, log: Log): void {
  const mark = `damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  // The database last: a log without its database must never meet the new one.
  for (const part of ["-wal", "-shm", ""]) {
    if (existsSync(`${file}${part}`)) renameSync(`${file}${part}`, `${file}.${mark}${part}`);
  }
  log(`store: ${file} is damaged and was set aside as ${file}.${mark}; starting with a new one`);
}

export function damagedAndInUse(file: string, cause: unknown): AsyncAgentsError {
  const message = `The task store at ${file} is damaged and another process has it open. End every process that uses it and start again: it is then set aside and a new one begins.`;
  return new AsyncAgentsError("store_unavailable", message, { cause, details: { file } });
}
