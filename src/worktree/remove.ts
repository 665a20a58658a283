/**
 * Removes our worktrees. Invariant: without `force`, nothing is removed that is not committed and in the target branch;
 * nothing is removed that lacks our mark, that git does not know as ours, or that is outside the base folder. Can be
 * called again at any time, even after a crash halfway.
 */
import { existsSync } from "node:fs";
import { AsyncAgentsError } from "../model/errors.ts";
import { uncommittedPaths } from "./changes.ts";
import { conditionOf, type WorktreeCondition } from "./condition.ts";
import { type Discarded, discard } from "./discard.ts";
import { adminFolderOf, lockReason } from "./git/registered.ts";
import { findTip } from "./git/repo.ts";
import { pruneStandIns } from "./git/stand-in.ts";
import { lossOf } from "./losses.ts";
import { type Marked, marksIn, rewrite } from "./mark.ts";
import { type Owned, ownedAt, repoPlace } from "./owned.ts";
import { ALONE, removeUnused, type Tidying } from "./tidying.ts";
import { headOf, isMerged } from "./worktree-state.ts";

interface RemoveRequest {
  base: string;
  attemptId: string;
  /** Also removes uncommitted and unmerged work. */
  force?: boolean;
  /** Keeps the branch, and with it everything that is committed. */
  keepBranch?: boolean;
}

/** Rejects what `removeWorktrees` would reject, and removes nothing. */
export async function checkRemoval({ base, attemptId, force, keepBranch }: RemoveRequest): Promise<Marked[]> {
  const found = marksIn(base).filter(({ mark }) => mark.attemptId === attemptId);
  for (const marked of found) await assertRemovable(marked, { force, keepBranch });
  return found;
}

/** Removes all worktrees of an attempt, or none of them. Returns an empty list for an attempt that has none. */
export async function removeWorktrees(request: RemoveRequest): Promise<Discarded[]> {
  const { force, keepBranch } = request;
  const found = await checkRemoval(request);
  const removed: Discarded[] = [];
  for (const marked of found) {
    if (marked.mark.stage === "ready") rewrite({ ...marked, mark: { ...marked.mark, stage: "removing" } });
    // The rest of an interrupted removal may be removed; whether the branch may is no longer known.
    const isKept = keepBranch || (!force && !(await isBranchSafe(marked)));
    removed.push(await discard(marked, { keepBranch: isKept }));
  }
  return removed;
}

/**
 * Clears what crashes and people left in a base folder: incomplete worktrees, interrupted removals, and marks of
 * deleted folders. A branch with unmerged work stays, with its mark; so does anything that exists nowhere else.
 */
export async function pruneWorktrees(base: string, tidying: Partial<Tidying> = {}): Promise<Discarded[]> {
  pruneStandIns();
  const cleared: Discarded[] = [];
  for (const marked of marksIn(base)) {
    if (!LEFT.has(conditionOf(marked))) continue;
    await removeUnused({ ...ALONE, ...tidying }, marked.path, async (vacate) => {
      if (!(await isLeftover(marked))) return;
      await vacate();
      cleared.push(await discard(marked));
    });
  }
  return cleared;
}

/** The conditions of what may be left over. */
const LEFT: ReadonlySet<WorktreeCondition> = new Set<WorktreeCondition>(["unfinished", "removing", "missing"]);

async function isLeftover(marked: Marked): Promise<boolean> {
  const condition = conditionOf(marked);
  const isLeft = condition === "unfinished" || condition === "removing";
  const isGone =
    condition === "missing" && (await lossOf(marked, adminFolderOf(marked.mark.gitDir, marked.path))) === null;
  return (isLeft || isGone) && (await isBranchSafe(marked));
}

type Leave = Pick<RemoveRequest, "force" | "keepBranch">;

async function assertRemovable(marked: Marked, { force, keepBranch }: Leave): Promise<void> {
  const { path, mark } = marked;
  const condition = conditionOf(marked);
  if (condition === "unfinished" || condition === "removing") return;
  if (condition === "making" && !force) {
    throw new AsyncAgentsError("worktree_busy", `${path} is being created. Wait until it is complete, then remove it.`);
  }
  if (condition === "foreign") throw notOurs(marked);
  assertUnlocked(marked);
  if (force) return;
  if (condition === "repo_missing") {
    if (existsSync(path)) throw unmerged(marked, `its repository ${mark.repo} is gone, so nothing can be compared`);
    return;
  }
  if (condition === "ready") await assertCommitted(ownedAt(path), keepBranch);
  const loss = await lossOf(marked, adminFolderOf(mark.gitDir, path));
  if (loss) throw lost(marked, loss);
  if (!keepBranch && !(await isBranchSafe(marked)))
    throw unmerged(marked, `${mark.branch} has commits that are not in ${mark.targetBranch}`);
}

async function assertCommitted(owned: Owned, keepBranch: boolean | undefined): Promise<void> {
  const paths = await uncommittedPaths(owned);
  if (paths.length > 0) {
    throw new AsyncAgentsError(
      "worktree_dirty",
      `${owned.path} has uncommitted changes (${paths.slice(0, 5).join(", ")}). Merge the attempt or commit them there, or remove it with force: true and lose them.`,
      { details: { paths: paths.slice(0, 100) } },
    );
  }
  const head = await headOf(owned);
  const kept = keepBranch && head === (await findTip(owned.repoPlace, owned.mark.branch));
  if (!kept && !(await isMerged(owned.mark, head))) {
    throw unmerged(owned, `it has commits that are not in ${owned.mark.targetBranch}`);
  }
}

async function isBranchSafe({ mark }: Marked): Promise<boolean> {
  if (!existsSync(mark.gitDir)) return true;
  const tip = await findTip(repoPlace(mark), mark.branch);
  return tip === null || isMerged(mark, tip);
}

function assertUnlocked({ path, mark }: Marked): void {
  const adminFolder = adminFolderOf(mark.gitDir, path);
  const reason = adminFolder && lockReason(adminFolder);
  if (!reason) return;
  const message = `${path} was locked (${reason}). Unlock it with git worktree unlock, then remove it.`;
  throw new AsyncAgentsError("worktree_busy", message, { details: { path, reason } });
}

function unmerged({ path, mark }: Marked, reason: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "worktree_unmerged",
    `${path} was not removed: ${reason}. Merge it first, keep its branch, or use force: true and lose them.`,
    { details: { path, branch: mark.branch } },
  );
}

function lost({ path, mark }: Marked, loss: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "worktree_unmerged",
    `${path} was not removed: ${loss}. Or use force: true and lose them.`,
    { details: { path, branch: mark.branch } },
  );
}

function notOurs({ path, mark }: Marked): AsyncAgentsError {
  return new AsyncAgentsError(
    "worktree_not_ours",
    `Git does not know ${path} as a worktree of ${mark.repo} that was created for this attempt. Look at it, and delete it by hand.`,
    { details: { path, repo: mark.repo } },
  );
}
