/**
 * What became of a worktree of ours: after a restart, after a crash halfway, after someone deleted a folder by hand.
 * The marks name them all; git and the disk show the state of each. Read-only.
 */
import { existsSync } from "node:fs";
import { isRegistered } from "./discard.ts";
import { isRunning } from "./maker.ts";
import type { Marked } from "./mark.ts";
import { isRealFolder } from "./owned.ts";

/**
 * `ready`: complete. `making`: a process is creating it. `unfinished`: the process that created it died. `removing`: a
 * removal was interrupted. `missing`: the folder is gone. `repo_missing`: the repository is gone. `foreign`: git does
 * not know what is there as ours.
 */
export type WorktreeCondition = "ready" | "making" | "unfinished" | "removing" | "missing" | "repo_missing" | "foreign";

export function conditionOf(marked: Marked): WorktreeCondition {
  const { path, mark } = marked;
  if (mark.stage === "making") return isRunning(mark.maker) ? "making" : "unfinished";
  if (mark.stage === "removing") return "removing";
  if (!existsSync(mark.gitDir)) return "repo_missing";
  if (!existsSync(path)) return "missing";
  return isRealFolder(path) && isRegistered(marked) ? "ready" : "foreign";
}
