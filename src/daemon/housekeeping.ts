/** What the daemon does once a day: a backup, pruning, and removing worktrees that nobody needs any more. */
import type { RetentionLimits } from "../engine/retention.ts";
import type { Runner } from "../engine/runner.ts";
import { systemClock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Store } from "../store/store.ts";
import { DailyBackup } from "./daily-backup.ts";
import { DailyPrune } from "./daily-prune.ts";
import { DailyTidy } from "./daily-tidy.ts";

interface HousekeepingOptions {
  store: Store;
  log: Log;
  /** The data folder. */
  directory: string;
  /** A PostgreSQL database is backed up by those who run it. */
  hasBackups: boolean;
  retention: RetentionLimits;
  /** The folder for all worktrees. */
  worktrees: string;
  /** What keeps engines out of folders that are removed. */
  folders: Pick<Runner, "removing">;
}

/** Begins at once. Returns what ends it. */
export function keepHouse(options: HousekeepingOptions): () => Promise<void> {
  const { store, log, directory, hasBackups, retention, worktrees, folders } = options;
  const backup = hasBackups ? new DailyBackup(directory, log) : null;
  const prune = new DailyPrune({ ...systemClock, store, log }, retention);
  const tidy = new DailyTidy({ ...systemClock, log, worktrees, folders });
  return async () => {
    backup?.stop();
    await prune.stop();
    await tidy.stop();
  };
}
