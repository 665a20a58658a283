/**
 * What is in a worktree's checkout and not in its commits, and the checkout as a tree. Invariant: neither the index of the
 * worktree nor the repository changes by looking: index and new objects live in a folder that is gone afterwards.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AsyncAgentsError } from "../model/errors.ts";
import { git, tryGit } from "./git.ts";
import type { Owned } from "./owned.ts";

export interface Snapshot {
  tree: string;
  /** With these, git finds the tree. */
  environment: Record<string, string>;
  /** What git could not read, in its words; null when all of it is in the tree. */
  incomplete: string | null;
}

/** Paths with changes that are not committed, untracked ones too. Copied files are no changes. */
export async function uncommittedPaths({ place, mark }: Owned): Promise<string[]> {
  const args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none"];
  const entries = (await git(place, args)).split("\0").filter((entry) => entry !== "");
  const isCopy = (entry: string) => entry.startsWith("?? ") && mark.copied.includes(entry.slice(3));
  return entries.filter((entry) => !isCopy(entry)).map((entry) => entry.slice(3));
}

/** Gives the checkout as a tree, for as long as `use` takes. */
export async function withSnapshot<T>(owned: Owned, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-snapshot-"));
  try {
    const objects = join(folder, "objects");
    mkdirSync(objects);
    const index = join(folder, "index");
    const environment = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(owned.mark.gitDir, "objects"),
    };
    // With the real index to start from, only files that changed are read.
    const real = join(owned.adminFolder, "index");
    if (existsSync(real)) copyIndex(real, index);
    else await git(owned.place, ["read-tree", "HEAD"], { environment });
    const incomplete = await addAll(owned, environment);
    return await use({ tree: await git(owned.place, ["write-tree"], { environment }), environment, incomplete });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * As old as the original: git reads a file again whose time is not before the index's, since it may have been written in the
 * same moment. A younger copy would have it trust the size of such a file.
 */
function copyIndex(from: string, to: string): void {
  copyFileSync(from, to);
  const second = Math.floor(statSync(from).mtimeMs / 1000);
  utimesSync(to, second, second);
}

/** Commits everything but the copied files. */
export async function commitAll(owned: Owned, message: string): Promise<void> {
  await assertCommittable(owned);
  await addAll(owned, {});
  await git(owned.place, ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--file=-"], { input: message });
}

/** Refuses a checkout of which a commit would lose something. */
export async function assertCommittable(owned: Owned): Promise<void> {
  if (await git(owned.place, ["ls-files", "--unmerged"])) {
    throw new AsyncAgentsError("worktree_dirty", `${owned.path} has conflicts. Solve and commit them there first.`);
  }
  const problem = await withSnapshot(owned, async ({ tree, environment, incomplete }) => {
    const nested = await addedRepositories(owned, tree, environment);
    return nested.length > 0 ? `these are repositories of their own: ${nested.join(", ")}` : incomplete;
  });
  if (problem) {
    throw new AsyncAgentsError(
      "worktree_dirty",
      `Not everything in ${owned.path} can be committed: ${problem}. Move or delete it, or commit by hand, then try again.`,
    );
  }
}

/** What git could not add, in its words. */
async function addAll({ place, mark }: Owned, environment: Record<string, string>): Promise<string | null> {
  const input = [".", ...mark.copied.map((path) => `:(exclude,top,literal)${path}`)].join("\0");
  const args = ["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const answer = await tryGit(place, args, { environment, input });
  return answer.code === 0 ? null : answer.stderr.trim() || `git add ended with code ${answer.code}`;
}

/** Folders with a git of their own: a commit would hold their names and lose what is in them. */
async function addedRepositories(
  { place }: Owned,
  tree: string,
  environment: Record<string, string>,
): Promise<string[]> {
  const raw = await git(place, ["diff-tree", "-r", "-z", "--raw", "--diff-filter=AT", "HEAD", tree], { environment });
  const fields = raw.split("\0");
  return fields.flatMap((field, i) => (/^:\d+ 160000 /.test(field) ? (fields[i + 1] ?? []) : []));
}
