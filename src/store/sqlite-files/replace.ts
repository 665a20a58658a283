/**
 * Replaces the store's file so that a process that is killed on the way leaves either the old store or the new one to
 * the next start. Only for a process that has exclusive access to the store. The old files are set aside, never
 * deleted.
 */
import { existsSync, renameSync, rmSync } from "node:fs";

/** A complete file that is ready to replace the store: from here on the replacement can be finished. */
function readyOf(file: string): string {
  return `${file}.ready`;
}

/** The name for setting the store aside now. */
export function asideOf(file: string, why: "damaged" | "replaced"): string {
  return `${file}.${why}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
}

/** Replaces `file` with the complete file `made`, and keeps the old one as `aside`. */
export function replaceStore(file: string, made: string, aside: string): void {
  renameSync(made, readyOf(file));
  setAside(file, aside);
  renameSync(readyOf(file), file);
}

/** Renames the store's files, the database first: as long as it exists, its log is beside it. */
export function setAside(file: string, aside: string): void {
  for (const part of ["", "-wal", "-shm"]) {
    if (existsSync(`${file}${part}`)) renameSync(`${file}${part}`, `${aside}${part}`);
  }
}

/** Whether a process was killed while it replaced the store. */
export function isHalfReplaced(file: string): boolean {
  return existsSync(readyOf(file));
}

/**
 * Finishes a replacement. If the old store is still complete, the new one is discarded: the replacement has to start
 * over.
 */
export function finishReplacing(file: string): void {
  if (!isHalfReplaced(file)) return;
  if (existsSync(file)) {
    rmSync(readyOf(file), { force: true });
    return;
  }
  setAside(file, asideOf(file, "replaced"));
  renameSync(readyOf(file), file);
}
