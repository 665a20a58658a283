/**
 * Problems of the data folder that a person has to know about: a full disk, a damaged store. Found by looking at the
 * folder, so that every door can report them even if the store cannot be written. Changes nothing.
 */
import { statfsSync } from "node:fs";
import { readDamageReport } from "../../store/sqlite-files/damage-report.ts";

export interface Trouble {
  kind: "disk_full" | "store_damaged" | "notifications_failing";
  /** What is wrong and what to do. */
  message: string;
}

/** Below this, a write may fail: SQLite needs several pages of its log at once. */
const LEAST_BYTES = 1_048_576;

export function troublesIn(directory: string): Trouble[] {
  return [fullDisk(directory), damagedStore(directory)].filter((trouble) => trouble !== null);
}

function fullDisk(directory: string): Trouble | null {
  const free = freeBytes(directory);
  if (free === null || free >= LEAST_BYTES) return null;
  const message = `The disk that holds ${directory} is full (${Math.floor(free / 1024)} kB left): tasks cannot be stored, so they can neither start nor end. Free some space; work then continues by itself.`;
  return { kind: "disk_full", message };
}

/** Null if it cannot be found out, or the folder does not exist. */
function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function damagedStore(directory: string): Trouble | null {
  const report = readDamageReport(directory);
  if (report === null) return null;
  const when = new Date(report.at).toISOString().slice(0, 16).replace("T", " ");
  const what = `The task store was damaged (found ${when} UTC); the damaged file is kept as ${report.setAside}.`;
  const next =
    "Check what is there; `asyncagents store restore` restores a backup, `asyncagents store dismiss` hides this message.";
  return { kind: "store_damaged", message: `${what} ${recoveredText(report)} ${next}` };
}

function recoveredText({ recovered, complete, backup }: NonNullable<ReturnType<typeof readDamageReport>>): string {
  if (recovered === null)
    return "Nothing could be read from it: what you see comes from tasks.json, and the board is empty.";
  const count = (table: string, noun: string) => `${recovered[table] ?? 0} ${noun}`;
  const counts = [count("tasks", "tasks"), count("projects", "projects"), count("work_items", "work items")];
  const rows = `Recovered: ${counts.join(", ")}.`;
  if (complete) return `${rows} Everything could be read.`;
  const filled = backup === null ? "there was no backup to fill them in" : `the backup ${backup} filled in what it had`;
  return `${rows} Some records could not be read; ${filled}.`;
}
