/**
 * Replaces the store with a backup. The old store is set aside, never deleted, and nothing happens while any process
 * uses it.
 */
import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";
import { tryLock } from "../sqlite/file-lock.ts";
import { type Backup, requireSound, storeFileOf } from "./backups.ts";
import { lockFileOf } from "./damage.ts";
import { asideOf, finishReplacing, replaceStore } from "./replace.ts";

/** Returns the name under which the old store is kept; null if there was none. */
export function restoreBackup(directory: string, backup: Backup): { setAside: string | null } {
  const file = storeFileOf(directory);
  const lock = tryLock(lockFileOf(file), "alone");
  if (lock === null) {
    const message =
      "The store is in use. Stop the daemon (asyncagents down) and end every OpenCode with the plugin, then try again.";
    throw new AsyncAgentsError("store_unavailable", message);
  }
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
