/**
 * Finds the worktree at a path and proves that it is ours: a mark in the base folder, git's own entry for that exact
 * path, and the copy of the mark in git's folder. A mark that was copied elsewhere proves nothing. Read-only.
 */
import { lstatSync, realpathSync } from "node:fs";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Checkout, GitLocation } from "./git/git.ts";
import { adminFolderOf } from "./git/registered.ts";
import { isConfirmed, type Mark, type Marked, markedAt } from "./mark.ts";

export interface Owned extends Marked {
  /** Git's folder for the worktree. */
  adminFolder: string;
  /** Where git runs for its checkout. */
  place: Checkout;
  /** Where git runs for the repository as a whole. */
  repoPlace: GitLocation;
}

/** The worktree at `path`, complete and ours. */
export function ownedAt(anyPath: string): Owned {
  const marked = markedAt(anyPath);
  if (!marked) {
    throw new AsyncAgentsError(
      "worktree_not_ours",
      `${anyPath} was not created for an attempt: it has no mark. Nothing was done.`,
      { details: { path: anyPath } },
    );
  }
  const { path, mark } = marked;
  if (mark.stage !== "ready") {
    throw new AsyncAgentsError(
      "worktree_busy",
      `The worktree ${path} is ${mark.stage === "making" ? "not complete yet" : "being removed"}. Wait, or remove it.`,
    );
  }
  if (!isRealFolder(path)) throw missing(path);
  const adminFolder = adminFolderOf(mark.gitDir, path);
  if (!adminFolder || !isConfirmed(mark, adminFolder)) {
    throw new AsyncAgentsError(
      "worktree_not_ours",
      `Git does not know ${path} as a worktree of ${mark.repo} that was created for this attempt. Nothing was done.`,
      { details: { path, repo: mark.repo } },
    );
  }
  return { path, mark, adminFolder, place: checkoutPlace(path, adminFolder, mark.gitDir), repoPlace: repoPlace(mark) };
}

export function repoPlace({ gitDir }: Pick<Mark, "gitDir">): GitLocation {
  return { cwd: gitDir, gitDir, commonDir: gitDir };
}

export function checkoutPlace(path: string, adminFolder: string, commonDir: string): Checkout {
  return { cwd: path, gitDir: adminFolder, commonDir, workTree: path };
}

/** True if it is a folder, and no part of its path was replaced by a link. */
export function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory() && realpathSync(path) === path;
  } catch {
    return false;
  }
}

function missing(path: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "worktree_not_found",
    `The folder ${path} is gone. What was committed is on its branch; start another attempt from there, or remove this one.`,
    { details: { path } },
  );
}
