/**
 * Copies files that git does not track (such as `.env`) from a repository into a worktree. Git itself finds them, so a
 * pattern means what it means in git, and nothing outside the repository or in `.git` can match. Invariant: nothing in
 * the worktree is replaced, and nothing is written or read through a link that leads out.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { AsyncAgentsError } from "../model/errors.ts";
import { gitFailure, tryGit } from "./git/git.ts";
import type { Repo } from "./git/repo.ts";

export interface CopyReport {
  /** Relative to the repository. */
  copied: string[];
  /** What was requested and not copied, with the reason. */
  skipped: { path: string; reason: string }[];
}

const FILE_LIMIT = 1_000;

/** Rejects patterns that could match anything outside the repository. */
export function assertPatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    const segments = pattern.split(/[/\\]/);
    const isPlain = pattern !== "" && !pattern.includes("\0") && !/^[/\\:-]/.test(pattern) && !segments.includes("..");
    if (isPlain && !segments.some((segment) => segment.toLowerCase() === ".git")) continue;
    throw new AsyncAgentsError(
      "invalid_input",
      `${JSON.stringify(pattern)} cannot be copied. Give paths or patterns inside the repository, such as ".env" or "config/*.local".`,
      { details: { pattern } },
    );
  }
}

export async function copyFiles(repo: Repo, worktree: string, patterns: readonly string[]): Promise<CopyReport> {
  const report: CopyReport = { copied: [], skipped: [] };
  if (patterns.length > 0 && repo.bare) {
    throw new AsyncAgentsError("invalid_input", `${repo.root} is bare: it has no files to copy. Leave "copy" empty.`);
  }
  const root = realpathSync(repo.root);
  for (const pattern of patterns) {
    const found = await untrackedFiles(repo, pattern);
    if (found.length === 0) report.skipped.push({ path: pattern, reason: "no untracked file matches" });
    for (const path of found.filter((file) => !report.copied.includes(file))) {
      if (report.copied.length >= FILE_LIMIT) throw tooMany(pattern);
      const reason = copyOne(root, worktree, path);
      if (reason) report.skipped.push({ path, reason });
      else report.copied.push(path);
    }
  }
  return report;
}

async function untrackedFiles(repo: Repo, pattern: string): Promise<string[]> {
  const { place } = repo;
  const args = ["ls-files", "--others", "-z", "--", `:(top,glob)${pattern}`];
  const answer = await tryGit(place, args, { maxBytes: 1024 * 1024 });
  if (answer.code !== 0) throw gitFailure(place, args, answer);
  if (answer.cut) throw tooMany(pattern);
  // A path that ends in a slash is a separate repository.
  return answer.stdout
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "" && !path.endsWith("/"));
}

/** The reason why it was not copied; null if it was. */
function copyOne(root: string, worktree: string, path: string): string | null {
  const source = insideOf(root, join(root, path));
  if (!source) return "it is a link that leads out of the repository, or to nothing";
  if (!statSync(source).isFile()) return "it is not a file";
  const folder = madeFolder(worktree, dirname(path));
  if (!folder) return "its folder is a link or a file on the target branch";
  try {
    copyFileSync(source, join(worktree, path), constants.COPYFILE_EXCL);
    return null;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return "the target branch has it already";
    throw thrown;
  }
}

function insideOf(root: string, path: string): string | null {
  try {
    const real = realpathSync(path);
    const inside = relative(root, real);
    const isOut = inside.startsWith("..") || inside.split(sep).includes(".git");
    return isOut ? null : real;
  } catch {
    return null;
  }
}

/** The folder in the worktree, created if missing; false if a part of it is not a folder. */
function madeFolder(worktree: string, folder: string): boolean {
  let at = worktree;
  for (const segment of folder.split(sep).filter((part) => part !== ".")) {
    at = join(at, segment);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (!found) mkdirSync(at);
    else if (!found.isDirectory()) return false;
  }
  return true;
}

function tooMany(pattern: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "too_large",
    `${JSON.stringify(pattern)} matches more than ${FILE_LIMIT} files. Copy fewer, or create them in the setup script.`,
  );
}
