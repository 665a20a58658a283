/**
 * Puts another file in the store's place, so that a process that is killed on the way leaves either the old store or the new one to
 * the next start, never none. Only for who is alone in the store. The old files are set aside, never deleted.
 */
import { existsSync, renameSync, rmSync } from "node:fs";

/** A complete file that waits to take the store's place: from here on the replacement can be finished. */
function readyOf(file: string): string {
  return `${file}.ready`;
}

/** The name under which the store would be set aside now. */
export function asideOf(file: string, why: "damaged" | "replaced"): string {
  return `${file}.${why}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
}

/** Puts the complete file `made` in the place of `file`, which is kept as `aside`. */
export function replaceStore(file: string, made: string, aside: string): void {
  renameSync(made, readyOf(file));
  setAside(file, aside);
  renameSync(readyOf(file), file);
}

/** Renames the store's files, the database first: as long as it is there, its log is beside it. */
export function setAside(file: string, aside: string): void {
  for (const part of ["", "-wal", "-shm"]) {
    if (existsSync(`${file}${part}`)) renameSync(`${file}${part}`, `${aside}${part}`);
  }
}

/** Whether somebody was killed while the store was replaced. */
export function isHalfReplaced(file: string): boolean {
  return existsSync(readyOf(file));
}

/** Finishes what was begun. Where the old store is still whole, the new one is let go: whoever wanted it begins anew. */
export function finishReplacing(file: string): void {
  if (!isHalfReplaced(file)) return;
  if (existsSync(file)) {
    rmSync(readyOf(file), { force: true });
    return;
  }
  setAside(file, asideOf(file, "replaced"));
  renameSync(readyOf(file), file);
}
