/**
 * What git itself knows about the worktrees of a repository: the proof of ownership that a copied mark cannot give,
 * and who has a branch checked out. Reads only.
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { askGit, gitFailure, type Place } from "./git.ts";
import { contentOf } from "./plain-file.ts";

/** Git's own folder for the worktree at `path`; null when it has no worktree there. */
export function adminFolderOf(gitDir: string, path: string): string | null {
  const folders = adminFolders(gitDir);
  return folders.find((folder) => pointsAt(folder, join(path, ".git"))) ?? null;
}

/** Who has a branch: a checkout; or, with null for it, an unfinished rebase or bisect. */
export async function holderOf(gitDir: string, branch: string): Promise<{ checkout: Place | null } | null> {
  const args = ["worktree", "list", "--porcelain", "-z"];
  const answer = await askGit(gitDir, args, { GIT_DIR: gitDir });
  if (answer.code !== 0) throw gitFailure({ cwd: gitDir }, args, answer);
  for (const entry of answer.stdout.toString("utf8").split("\0\0")) {
    const fields = entry.split("\0");
    const path = fields.find((field) => field.startsWith("worktree "))?.slice("worktree ".length);
    // Somebody deleted the folder: there is no checkout that could be surprised.
    if (path && fields.includes(`branch refs/heads/${branch}`) && existsSync(path)) {
      const own = adminFolderOf(gitDir, path) ?? gitDir;
      return { checkout: { cwd: path, gitDir: own, commonDir: gitDir, workTree: path } };
    }
  }
  return [gitDir, ...adminFolders(gitDir)].some((folder) => isUnderWay(folder, branch)) ? { checkout: null } : null;
}

/** True when somebody ran `git worktree lock` on it; the file holds the reason. */
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
