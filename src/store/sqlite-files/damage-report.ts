/**
 * The report for people after the store was found damaged: a small file beside the store that stays until someone
 * dismisses it. Every door can read it without opening the store.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface DamageReport {
  /** In ms. */
  at: number;
  /** The damaged file, unchanged. */
  setAside: string;
  /** Rows by table in the store that replaced it; null if nothing could be read and the new store is empty. */
  recovered: Record<string, number> | null;
  /** Whether everything could be read. */
  complete: boolean;
  /** The backup that supplied what was lost. */
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

/** False if there was none. */
export function dismissDamageReport(directory: string): boolean {
  const was = readDamageReport(directory) !== null;
  rmSync(fileOf(directory), { force: true });
  return was;
}
