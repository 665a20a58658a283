/**
 * A copy of a checkout's index, for inspecting the checkout without changing anything. It hides no files: a file that
 * is marked as unchanged (`assume-unchanged`, `skip-worktree`) is compared like any other. Invariant: the checkout's
 * own index is only read.
 */
import { existsSync, lstatSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type Checkout, git, tryGit } from "./git.ts";
import { bytesOf } from "./plain-file.ts";

export const INDEX_LIMIT = 512 * 1024 * 1024;

/** Provides the copy in a temporary folder, which is removed afterwards. */
export async function withIndex<T>(place: Checkout, use: (index: string, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-snapshot-"));
  try {
    const index = join(folder, "index");
    // Starting from the real index, only changed files are read.
    const real = join(place.gitDir, "index");
    if (existsSync(real)) copyIndex(real, index);
    // Before the first commit there is nothing to read; git treats a missing index as empty.
    else await tryGit(place, ["read-tree", "HEAD"], { environment: { GIT_INDEX_FILE: index } });
    await showHidden(place, { GIT_INDEX_FILE: index });
    return await use(index, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Keeps the modification time: git rereads a file that is not older than the index, since it may have been written in
 * the same moment. With a newer copy git would trust the size of such a file.
 */
export function copyIndex(from: string, to: string): void {
  const bytes = bytesOf(from, INDEX_LIMIT);
  if (bytes === null) {
    throw new AsyncAgentsError("repo_invalid", `${from} is not a git index. Delete it, then run git reset there.`);
  }
  writeFileSync(to, bytes);
  const second = Math.floor(statSync(from).mtimeMs / 1000);
  utimesSync(to, second, second);
}

/**
 * The output of `git status` for the checkout, one entry per path, including untracked files. Git does not look into
 * submodules.
 */
export function uncommittedEntries(place: Checkout): Promise<string[]> {
  const args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  return withIndex(place, async (index) => {
    const said = await git(place, args, { environment: { GIT_INDEX_FILE: index } });
    return said.split("\0").filter((entry) => entry !== "");
  });
}

async function showHidden(place: Checkout, environment: Record<string, string>): Promise<void> {
  const listed = await tryGit(place, ["ls-files", "-v", "-z"], { environment, maxBytes: INDEX_LIMIT });
  // Byte by byte: names need not be UTF-8.
  const entries = listed.stdout.toString("latin1").split("\0");
  const pathsMarked = (letter: RegExp) =>
    entries.flatMap((entry) => (letter.test(entry) ? [Buffer.from(entry.slice(2), "latin1")] : []));
  const clear = async (flag: string, paths: readonly Buffer[]) => {
    const input = Buffer.concat(paths.flatMap((path) => [path, Buffer.of(0)]));
    if (paths.length > 0) await git(place, ["update-index", flag, "-z", "--stdin"], { environment, input });
  };
  // A lower case letter stands for "assume unchanged", an S in either case for "skip the worktree".
  await clear("--no-assume-unchanged", pathsMarked(/^[a-z] /));
  // Files that a sparse checkout left out stay marked: otherwise they would count as deleted.
  const isThere = (path: Buffer) => existsAt(Buffer.concat([Buffer.from(`${place.workTree}/`), path]));
  await clear("--no-skip-worktree", pathsMarked(/^[sS] /).filter(isThere));
}

/** Also true for a dangling link. */
function existsAt(path: Buffer): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
