/**
 * What a person should know after the store was found damaged: a small file beside the store that stays until somebody has
 * read it and says so. Every door can read it without opening the store.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface DamageReport {
  /** In ms. */
  at: number;
  /** The damaged file, as it was. */
  setAside: string;
  /** Rows by table in the store that took its place; null when nothing could be read, and an empty one began. */
  recovered: Record<string, number> | null;
  /** Whether everything could be read. */
  complete: boolean;
  /** The backup that filled in what was lost. */
  backup: string | null;
}

function fileOf(directory: string): string {
  return join(directory, "store-damage.json");
}

export function writeDamageReport(directory: string, report: DamageReport): void {
  writeFileSync(fileOf(directory), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
}

export function readDamageReport(directory: string): DamageReport | null {
  try {
    const read = JSON.parse(readFileSync(fileOf(directory), "utf8")) as Partial<DamageReport>;
    if (typeof read.at !== "number" || typeof read.setAside !== "string") return null;
    const { at, setAside, recovered = null, complete = false, backup = null } = read;
    return { at, setAside, recovered, complete, backup };
  } catch {
    return null;
  }
}

/** False when there was none. */
export function dismissDamageReport(directory: string): boolean {
  const was = readDamageReport(directory) !== null;
  rmSync(fileOf(directory), { force: true });
  return was;
}
