/**
 * What git itself knows about the worktrees of a repository: the proof of ownership that a copied mark cannot give, and
 * which checkout has a branch. Read-only.
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { askGit, type GitLocation, gitFailure } from "./git.ts";
import { contentOf } from "./plain-file.ts";

/** Git's own folder for the worktree at `path`; null if it has no worktree there. */
export function adminFolderOf(gitDir: string, path: string): string | null {
  const folders = adminFolders(gitDir);
  return folders.find((folder) => pointsAt(folder, join(path, ".git"))) ?? null;
}

/** What holds a branch: a checkout or, with a null path, an unfinished rebase or bisect. */
export async function holderOf(gitDir: string, branch: string): Promise<{ checkout: GitLocation | null } | null> {
  const args = ["worktree", "list", "--porcelain", "-z"];
  const answer = await askGit(gitDir, args, { GIT_DIR: gitDir });
  if (answer.code !== 0) throw gitFailure({ cwd: gitDir }, args, answer);
  for (const entry of answer.stdout.toString("utf8").split("\0\0")) {
    const fields = entry.split("\0");
    const path = fields.find((field) => field.startsWith("worktree "))?.slice("worktree ".length);
    // If the folder was deleted, there is no checkout to affect.
    if (path && fields.includes(`branch refs/heads/${branch}`) && existsSync(path)) {
      const own = adminFolderOf(gitDir, path) ?? gitDir;
      return { checkout: { cwd: path, gitDir: own, commonDir: gitDir, workTree: path } };
    }
  }
  return [gitDir, ...adminFolders(gitDir)].some((folder) => isUnderWay(folder, branch)) ? { checkout: null } : null;
}

/** The reason of a `git worktree lock`; null if it is not locked. */
export function lockReason(adminFolder: string): string | null {
  const reason = contentOf(join(adminFolder, "locked"));
  return reason === null ? null : reason.trim() || "no reason given";
}

function adminFolders(gitDir: string): string[] {
  try {
    return readdirSync(join(gitDir, "worktrees")).map((name) => join(gitDir, "worktrees", name));
  } catch {
    return [];
  }
}

function pointsAt(adminFolder: string, file: string): boolean {
  const target = contentOf(join(adminFolder, "gitdir"));
  return target !== null && resolve(adminFolder, target.trim()) === file;
}

function isUnderWay(adminFolder: string, branch: string): boolean {
  return ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"].some((file) => {
    const name = contentOf(join(adminFolder, file))?.trim();
    return name === branch || name === `refs/heads/${branch}`;
  });
}
