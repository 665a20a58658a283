/**
 * The state of an attempt's work: what is uncommitted, and what is committed but not in the target branch. Invariant:
 * in doubt, work counts as unmerged; it is never considered safe because something could not be read. Read-only.
 */
import { uncommittedPaths } from "./changes.ts";
import { git, tryGit } from "./git/git.ts";
import { findTip, isAncestor } from "./git/repo.ts";
import type { Mark } from "./mark.ts";
import { type Owned, ownedAt, repoPlace } from "./owned.ts";

interface WorktreeState {
  /** The branch that is checked out; null if an agent left it on a detached commit. */
  branch: string | null;
  head: string;
  /** Uncommitted paths, at most a hundred; `uncommittedCount` counts all. */
  uncommitted: string[];
  uncommittedCount: number;
  /** Commits since the start, and those that the target branch lacks. */
  aheadOfBase: number;
  aheadOfTarget: number;
  /** Commits of the target branch that the attempt lacks. */
  behindTarget: number;
  /** False when the target branch is gone. */
  hasTarget: boolean;
  /** Something is committed, and all of it is in the target branch. */
  merged: boolean;
}

const SHOWN_PATHS = 100;

/** The state of the worktree at `path`. */
export async function worktreeStateOf(path: string): Promise<WorktreeState> {
  const owned = ownedAt(path);
  const { mark, repoPlace: repo } = owned;
  const uncommitted = await uncommittedPaths(owned);
  const [branch, head] = [await branchOf(owned), await headOf(owned)];
  const target = await findTip(repo, mark.targetBranch);
  const aheadOfBase = await commitsBetween(mark, [mark.baseCommit], head);
  return {
    branch,
    head,
    aheadOfBase,
    hasTarget: target !== null,
    uncommitted: uncommitted.slice(0, SHOWN_PATHS),
    uncommittedCount: uncommitted.length,
    aheadOfTarget: target ? await commitsBetween(mark, [target], head) : aheadOfBase,
    behindTarget: target ? await commitsBetween(mark, [head], target) : 0,
    merged: aheadOfBase > 0 && (await isMerged(mark, head)),
  };
}

/** True if nothing in `head` would be lost with it: it is in the target branch, or it is still the starting commit. */
export async function isMerged(mark: Mark, head: string): Promise<boolean> {
  const place = repoPlace(mark);
  const target = await findTip(place, mark.merged?.into ?? mark.targetBranch);
  const known = [mark.baseCommit, ...(target ? [target] : []), ...((await squashed(mark, target)) ?? [])];
  if ((await commitsBetween(mark, known, head)) === 0) return true;
  return target !== null && (await addsNothing(mark, target, head));
}

/** What a squash added to the target branch, as long as the branch still contains that commit. */
export async function squashed({ merged, ...mark }: Mark, target: string | null): Promise<[string] | null> {
  if (!merged || !target) return null;
  return (await isAncestor(repoPlace(mark), merged.commit, target)) ? [merged.head] : null;
}

/** The commit that is checked out. */
export function headOf({ place }: Owned): Promise<string> {
  return git(place, ["rev-parse", "--verify", "HEAD^{commit}"]);
}

export async function branchOf({ place }: Owned): Promise<string | null> {
  const answer = await tryGit(place, ["symbolic-ref", "--quiet", "HEAD"]);
  return answer.code === 0 ? answer.stdout.toString("utf8").trim().replace("refs/heads/", "") : null;
}

/** Someone else may have squashed it: then merging it would change nothing. */
async function addsNothing(mark: Mark, target: string, head: string): Promise<boolean> {
  const place = repoPlace(mark);
  const merged = await tryGit(place, ["merge-tree", "--write-tree", target, head]);
  if (merged.code !== 0) return false;
  return merged.stdout.toString("utf8").trim() === (await git(place, ["rev-parse", `${target}^{tree}`]));
}

async function commitsBetween(mark: Mark, known: readonly string[], head: string): Promise<number> {
  return Number(await git(repoPlace(mark), ["rev-list", "--count", head, "--not", ...known, "--"]));
}
