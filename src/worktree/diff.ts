/**
 * What an attempt has changed since it started: committed, uncommitted and untracked, against the commit it started from; and
 * what its merge has brought to the target branch. Invariant: looking changes nothing, and the answer is bounded and says what
 * is not in it.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { withSnapshot } from "./changes.ts";
import { git, gitFailure, type Place, tryGit } from "./git.ts";
import { ownedAt } from "./owned.ts";
import { inspectRepo } from "./repo.ts";

export interface ChangedFile {
  path: string;
  /** Where it was before, when it was moved. */
  from: string | null;
  insertions: number;
  deletions: number;
  /** Named only: there are no lines to count or to show. */
  binary: boolean;
}

export interface Diff {
  baseCommit: string;
  fileCount: number;
  insertions: number;
  deletions: number;
  /** At most a thousand; `fileCount` counts all. */
  files: ChangedFile[];
  /** The unified diff, of whole lines. */
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
    const message = `${repoPath} does not have the merge's commit ${commit} any more, so there is nothing to compare.`;
    throw new AsyncAgentsError("worktree_not_found", message, { details: { commit } });
  }
  const before = from.stdout.toString("utf8").trim();
  return { ...(await compare(place, { from: before, to: commit, environment: {} }, bound)), incomplete: null };
}

interface Bound {
  maxBytes: number;
}

function assertBound({ maxBytes }: Bound): void {
  if (Number.isInteger(maxBytes) && maxBytes >= 0) return;
  throw new AsyncAgentsError("invalid_input", "maxBytes must be a whole number of bytes, 0 or more.");
}

async function compare(
  place: Place,
  { from, to, environment }: { from: string; to: string; environment: Record<string, string> },
  { maxBytes }: Bound,
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
  return {
    baseCommit: from,
    fileCount: files.length,
    insertions: files.reduce((sum, file) => sum + file.insertions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    files: files.slice(0, FILE_LIMIT),
    ...shown(patch.stdout, patch.cut, files),
  };
}

/** Reads `--numstat -z`: "added, deleted, path" for each file; a moved one has an empty path, then the two in full. */
function changedFiles(numstat: string): ChangedFile[] {
  const fields = numstat.split("\0");
  const files: ChangedFile[] = [];
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

function shown(patch: Buffer, isCut: boolean, files: readonly ChangedFile[]): Pick<Diff, "text" | "cut"> {
  if (!isCut) return { text: patch.toString("utf8"), cut: null };
  const whole = patch.subarray(0, patch.lastIndexOf("\n") + 1);
  const text = whole.toString("utf8");
  // Lines of files begin with a blank, a plus or a minus, so this can only be a heading.
  const begun = text.match(/^diff --git /gm)?.length ?? 0;
  return { text, cut: { bytes: whole.length, file: files[begun - 1]?.path ?? null, filesLeft: files.length - begun } };
}
