/**
 * Removes a marked worktree: folder, git's entry, branch, mark, in an order that a later call can continue wherever it
 * was interrupted. Decides nothing: the caller must know that it may be removed.
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
    // Not `prune`, which would drop other people's entries too. Forced twice, since git keeps an interrupted worktree
    // locked.
    await git(repoPlace(mark), ["worktree", "remove", "--force", "--force", "--", path]);
  }
  const branchRemoved = hasRepo && !keepBranch && (await removeBranch(mark));
  erase(path);
  try {
    rmdirSync(dirname(path));
  } catch {
    // It still contains another repo of the attempt, or someone's files.
  }
  return { path, branch: mark.branch, branchRemoved };
}

/** True if git's entry for the path is ours; an unfinished one does not have a copy of the mark yet. */
export function isRegistered({ path, mark }: Marked): boolean {
  const adminFolder = adminFolderOf(mark.gitDir, path);
  return adminFolder !== null && (mark.stage === "making" || isConfirmed(mark, adminFolder));
}

async function removeFolder(path: string): Promise<void> {
  const parent = lstatSync(dirname(path), { throwIfNoEntry: false });
  // Through a link, this would be another folder.
  if (parent?.isDirectory()) await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function removeBranch(mark: Marked["mark"]): Promise<boolean> {
  const tip = await findTip(repoPlace(mark), mark.branch);
  // Deleting a branch that is checked out would leave that checkout without a commit.
  if (!tip || (await holderOf(mark.gitDir, mark.branch))) return false;
  await git(repoPlace(mark), ["update-ref", "-d", `refs/heads/${mark.branch}`, tip]);
  return true;
}
