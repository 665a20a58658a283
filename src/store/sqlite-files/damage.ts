/**
 * Handles a damaged SQLite file: checks it completely, sets it aside (never deletes it) and replaces it with what could
 * be recovered, but only after proving that no other process uses the store. Runs when opening or a query signals
 * damage, never at an ordinary start. `rebuild.ts` recovers the rows.
 */
import { Database as Sqlite } from "bun:sqlite";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { LineLog } from "../../process/log.ts";
import { isDamage } from "../sqlite/failure.ts";
import { tryLock } from "../sqlite/file-lock.ts";
import { backupsIn } from "./backups.ts";
import { writeDamageReport } from "./damage-report.ts";
import { type Rebuilt, rebuild } from "./rebuild.ts";
import { asideOf, finishReplacing, replaceStore, setAside } from "./replace.ts";

export function lockFileOf(file: string): string {
  return file.replace(/\.db$/, "").concat(".lock");
}

function suspicionOf(file: string): string {
  return `${file}.suspect`;
}

/** Records that a query found damage, so that the next start checks the whole file. */
export function suspectDamage(file: string): void {
  try {
    writeFileSync(suspicionOf(file), "", { mode: 0o600 });
  } catch {
    // The caller already gets the query's own error.
  }
}

export function isSuspect(file: string): boolean {
  return existsSync(suspicionOf(file));
}

/** Checks the file and sets it aside if it is damaged. False, with nothing done, when another process is in. */
export function checkForDamage(file: string, log: LineLog): boolean {
  const lock = tryLock(lockFileOf(file), "alone");
  if (lock === null) return false;
  try {
    finishReplacing(file);
    if (!isSound(file)) replaceDamaged(file, log);
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

/**
 * Replaces the damaged file with what can be recovered, and leaves a report. The damaged file stays in place until all
 * of that is done: if the process is killed meanwhile, the next start does it again.
 */
function replaceDamaged(file: string, log: LineLog): void {
  const directory = dirname(file);
  const aside = asideOf(file, "damaged");
  const target = `${file}.rebuilt`;
  const backup = backupsIn(directory)[0] ?? null;
  const rebuilt = rebuiltInto(target, { file, backup: backup?.file ?? null, log });
  writeDamageReport(directory, {
    at: Date.now(),
    setAside: aside,
    recovered: rebuilt?.rows ?? null,
    complete: rebuilt?.complete ?? false,
    backup: rebuilt !== null && !rebuilt.complete ? (backup?.name ?? null) : null,
  });
  if (rebuilt === null) setAside(file, aside);
  else replaceStore(file, target, aside);
  const next = rebuilt === null ? "starting with a new one" : `recovered ${JSON.stringify(rebuilt.rows)}`;
  log(`store: ${file} is damaged and was set aside as ${aside}; ${next}`);
}

/** Whatever goes wrong here, the store must open: an empty one is better than none. Null leaves no file behind. */
function rebuiltInto(
  target: string,
  { file, backup, log }: { file: string; backup: string | null; log: LineLog },
): Rebuilt | null {
  try {
    const rebuilt = rebuild(file, backup, target);
    if (rebuilt !== null && isSound(target)) return rebuilt;
  } catch (thrown) {
    log(`store: nothing could be recovered from ${file}: ${messageOf(thrown)}`);
  }
  rmSync(target, { force: true });
  return null;
}

export function damagedAndInUse(file: string, cause: unknown): AsyncAgentsError {
  const message = `The task store at ${file} is damaged and another process has it open. End every process that uses it and start again: it is then set aside and what can be read of it is recovered.`;
  return new AsyncAgentsError("store_unavailable", message, { cause, details: { file } });
}
