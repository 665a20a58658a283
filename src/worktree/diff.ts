/**
 * What an attempt has changed since it started: committed, uncommitted and untracked, compared with the commit it
 * started from; and what its merge added to the target branch. Invariant: looking changes nothing, and the result is
 * bounded and says what is missing.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { withSnapshot } from "./changes.ts";
import { type GitLocation, git, gitFailure, tryGit } from "./git/git.ts";
import { inspectRepo } from "./git/repo.ts";
import { ownedAt } from "./owned.ts";

interface ChangedFile {
  path: string;
  /** Its earlier path, if it was moved. */
  from: string | null;
  insertions: number;
  deletions: number;
  /** Only named: there are no lines to count or show. */
  binary: boolean;
  /** How much of its changes the text contains. */
  shown: "whole" | "part" | "none";
}

type CountedFile = Omit<ChangedFile, "shown">;

export interface Diff {
  baseCommit: string;
  fileCount: number;
  insertions: number;
  deletions: number;
  /** In the order of the text, up to the requested number; `fileCount` counts all. */
  files: ChangedFile[];
  /** The unified diff, in whole lines. */
  text: string;
  /** Where the text was cut: after this many bytes, within this file, with this many files not shown at all. */
  cut: { bytes: number; file: string | null; filesLeft: number } | null;
  /** What git could not read, in its words. */
  incomplete: string | null;
}

const FILE_LIMIT = 1_000;

/** The changes in the worktree at `path`. */
export async function diffOf(path: string, bound: Bound): Promise<Diff> {
  assertBound(bound);
  const owned = ownedAt(path);
  const { place, mark } = owned;
  return withSnapshot(owned, async ({ tree, environment, incomplete }) => ({
    ...(await compare(place, { from: mark.baseCommit, to: tree, environment }, bound)),
    incomplete,
  }));
}

/** What the commit of a merge changed on the target branch, in the repository at `repoPath`. */
export async function mergedDiffOf(repoPath: string, commit: string, bound: Bound): Promise<Diff> {
  assertBound(bound);
  const { place } = await inspectRepo(repoPath);
  const from = await tryGit(place, ["rev-parse", "--verify", "--quiet", `${commit}^1`]);
  if (from.code !== 0) {
    const message = `${repoPath} no longer has the commit ${commit} of the merge, so there is nothing to compare.`;
    throw new AsyncAgentsError("worktree_not_found", message, { details: { commit } });
  }
  const before = from.stdout.toString("utf8").trim();
  return { ...(await compare(place, { from: before, to: commit, environment: {} }, bound)), incomplete: null };
}

interface Bound {
  maxBytes: number;
  /** How many files to name; default 1,000. */
  maxFiles?: number;
}

function assertBound({ maxBytes }: Bound): void {
  if (Number.isInteger(maxBytes) && maxBytes >= 0) return;
  throw new AsyncAgentsError("invalid_input", "maxBytes must be a whole number of bytes, 0 or more.");
}

async function compare(
  place: GitLocation,
  { from, to, environment }: { from: string; to: string; environment: Record<string, string> },
  { maxBytes, maxFiles = FILE_LIMIT }: Bound,
): Promise<Omit<Diff, "incomplete">> {
  const compared = ["-r", "--find-renames", from, to];
  const files = changedFiles(await git(place, ["diff-tree", "--numstat", "-z", ...compared], { environment }));
  const args = [
    "diff-tree",
    "--patch",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
    "--full-index",
    ...compared,
  ];
  const patch = await tryGit(place, args, { environment, maxBytes });
  if (patch.code !== 0) throw gitFailure(place, args, patch);
  const { text, cut, begun } = shown(patch.stdout, patch.cut, files);
  return {
    baseCommit: from,
    fileCount: files.length,
    insertions: files.reduce((sum, file) => sum + file.insertions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    files: files.slice(0, maxFiles).map((file, i) => ({ ...file, shown: cut ? shareOf(i, begun) : "whole" })),
    text,
    cut,
  };
}

/** Parses `--numstat -z`: "added, deleted, path" for each file; a moved one has an empty path, then both full paths. */
function changedFiles(numstat: string): CountedFile[] {
  const fields = numstat.split("\0");
  const files: CountedFile[] = [];
  for (let i = 0; i < fields.length; i++) {
    const [, added = "", deleted = "", name = ""] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[i] ?? "") ?? [];
    if (added === "") continue;
    const from = name === "" ? (fields[++i] ?? null) : null;
    const path = name === "" ? (fields[++i] ?? "") : name;
    const [insertions, deletions] = [Number(added) || 0, Number(deleted) || 0];
    files.push({ path, from, insertions, deletions, binary: added === "-" });
  }
  return files;
}

/** How much a cut text has of the file at a position: the last one that it begins may be cut. */
function shareOf(place: number, begun: number): ChangedFile["shown"] {
  if (place >= begun) return "none";
  return place === begun - 1 ? "part" : "whole";
}

/** `begun`: how many of the files the text contains at least in part. */
function shown(
  patch: Buffer,
  isCut: boolean,
  files: readonly CountedFile[],
): Pick<Diff, "text" | "cut"> & { begun: number } {
  if (!isCut) return { text: patch.toString("utf8"), cut: null, begun: files.length };
  const whole = patch.subarray(0, patch.lastIndexOf("\n") + 1);
  const text = whole.toString("utf8");
  // Lines of files begin with a space, a plus or a minus, so this can only be a heading. A file that became a link has
  // two.
  const headings = text.match(/^diff --git .*$/gm) ?? [];
  const begun = headings.filter((heading, i) => heading !== headings[i - 1]).length;
  const file = files[begun - 1]?.path ?? null;
  return { text, cut: { bytes: whole.length, file, filesLeft: files.length - begun }, begun };
}
