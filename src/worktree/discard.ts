/**
 * Takes a marked worktree away: folder, git's entry, branch, mark, in an order that a later call can take up wherever it
 * was interrupted. Decides nothing: whether it may go is for the caller to know.
 */
import { existsSync, lstatSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { git } from "./git/git.ts";
import { adminFolderOf, holderOf } from "./git/registered.ts";
import { findTip } from "./git/repo.ts";
import { erase, isConfirmed, type Marked } from "./mark.ts";
import { repoPlace } from "./owned.ts";

export interface Discarded {
  path: string;
  branch: string;
  branchRemoved: boolean;
}

export async function discard({ path, mark }: Marked, { keepBranch = false } = {}): Promise<Discarded> {
  const hasRepo = existsSync(mark.gitDir);
  await removeFolder(path);
  if (hasRepo && isRegistered({ path, mark })) {
    // Not `prune`, which would drop other people's entries, too. Twice forced: what a crash interrupted is still locked by git.
    await git(repoPlace(mark), ["worktree", "remove", "--force", "--force", "--", path]);
  }
  const branchRemoved = hasRepo && !keepBranch && (await removeBranch(mark));
  erase(path);
  try {
    rmdirSync(dirname(path));
  } catch {
    // Another repo of the attempt is still in it, or somebody put something there.
  }
  return { path, branch: mark.branch, branchRemoved };
}

/** True when git's entry for the path is ours; one that was never completed has no copy of the mark in it yet. */
export function isRegistered({ path, mark }: Marked): boolean {
  const adminFolder = adminFolderOf(mark.gitDir, path);
  return adminFolder !== null && (mark.stage === "making" || isConfirmed(mark, adminFolder));
}

async function removeFolder(path: string): Promise<void> {
  const parent = lstatSync(dirname(path), { throwIfNoEntry: false });
  // Through a link, it would be somebody else's folder.
  if (parent?.isDirectory()) await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function removeBranch(mark: Marked["mark"]): Promise<boolean> {
  const tip = await findTip(repoPlace(mark), mark.branch);
  // Deleting a branch under somebody's checkout would leave it without a commit.
  if (!tip || (await holderOf(mark.gitDir, mark.branch))) return false;
  await git(repoPlace(mark), ["update-ref", "-d", `refs/heads/${mark.branch}`, tip]);
  return true;
}
