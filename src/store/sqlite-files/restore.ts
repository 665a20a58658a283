/**
 * Replaces the store with a backup. The old store is set aside, never deleted, and nothing happens while any process
 * uses it.
 */
import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { type Backup, requireSound, storeFileOf } from "./backups.ts";
import { lockAlone } from "./lock-alone.ts";
import { asideOf, finishReplacing, replaceStore } from "./replace.ts";

/** Returns the name under which the old store is kept; null if there was none. */
export function restoreBackup(directory: string, backup: Backup): { setAside: string | null } {
  const file = storeFileOf(directory);
  const lock = lockAlone(file);
  try {
    finishReplacing(file);
    requireSound(backup.file, backup.file);
    const part = `${file}.part`;
    copyFileSync(backup.file, part);
    chmodSync(part, 0o600);
    const aside = asideOf(file, "replaced");
    const isThere = existsSync(file);
    replaceStore(file, part, aside);
    return { setAside: isThere ? aside : null };
  } finally {
    lock.release();
  }
}
