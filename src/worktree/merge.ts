/**
 * Merges an attempt's branch into its target branch. The merge is computed without a checkout, then the branch is moved
 * from exactly the commit it was computed on. Invariant: on a conflict nothing has changed except the requested commit;
 * a checkout of the target branch is only ever fast-forwarded, and only if it is clean.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { assertCommittable, commitAll, uncommittedPaths, withLineEnd, withSnapshot } from "./changes.ts";
import { assertFiltersKnown } from "./git/filters.ts";
import { type GitLocation, git, gitFailure, tryGit } from "./git/git.ts";
import { hooksOf } from "./git/hooks.ts";
import { holderOf } from "./git/registered.ts";
import { isAncestor, tipOf } from "./git/repo.ts";
import { rewrite } from "./mark.ts";
import { type Owned, ownedAt } from "./owned.ts";
import { withRepositoryLock } from "./repository-lock.ts";
import { branchOf, headOf, squashed } from "./worktree-state.ts";

interface MergeRequest {
  /** A local branch; default the attempt's target branch. */
  into?: string;
  /** For the commit on the target branch, and for the commit of uncommitted work before it. */
  message: string;
  /** One commit without the attempt's history. */
  squash?: boolean;
  /** Commits uncommitted work first; without it, uncommitted work is rejected. */
  commit?: boolean;
}

interface Merged {
  into: string;
  /** The tip of the target branch afterwards. */
  commit: string;
  /** False if the target branch already had everything. */
  changed: boolean;
  /** The commit that merged it, now or in an earlier call; null if unknown. */
  landed: string | null;
  /** The checkout that was fast-forwarded with the branch. */
  checkout: string | null;
  /** Hooks that git would have run for a person. */
  hooksNotRun: string[];
}

const ROUNDS = 10;

/** Merges the branch of the worktree at `path`. */
export async function merge(path: string, request: MergeRequest): Promise<Merged> {
  const owned = ownedAt(path);
  const into = request.into ?? owned.mark.targetBranch;
  await assertMergeable(owned, into, request);
  await assertCommittable(owned);
  if ((await uncommittedPaths(owned)).length > 0) await commitAll(owned, request.message);
  const head = await headOf(owned);
  // If someone commits at the same time, the merge is computed again.
  for (let round = 0; round < ROUNDS; round++) {
    const merged = await withRepositoryLock(owned.mark.gitDir, () => mergeOnce(owned, { ...request, into }, head));
    if (!merged) continue;
    const hooksNotRun = await hooksOf({ ...owned.repoPlace, workTree: owned.mark.repo });
    const before = owned.mark.merged;
    if (!merged.changed && before?.head === head && before.into === into) {
      return { ...merged, landed: before.commit, hooksNotRun };
    }
    rewrite({ path, mark: { ...owned.mark, merged: { head, commit: merged.commit, into } } });
    return { ...merged, hooksNotRun };
  }
  throw new AsyncAgentsError("worktree_busy", `${into} keeps changing during the merge. Try again.`);
}

/**
 * Rejects what `merge` would reject now, and changes nothing: if one of several merges is impossible, none should
 * start. `merge` itself handles what happens in between.
 */
export async function checkMerge(path: string, request: MergeRequest): Promise<void> {
  const owned = ownedAt(path);
  const into = request.into ?? owned.mark.targetBranch;
  await assertMergeable(owned, into, request);
  await assertCommittable(owned);
  const { repoPlace: repo } = owned;
  const target = await tipOf(repo, into);
  await withSnapshot(owned, async ({ tree, environment }) => {
    // Objects of the trial live in the snapshot's folder, and are removed with it.
    const parent = await headOf(owned);
    const isCommitted = tree === (await git(repo, ["rev-parse", `${parent}^{tree}`]));
    if (isCommitted && (await isAncestor(repo, parent, target))) return;
    const head = await commitTree(repo, { tree, parents: [parent], message: "trial", environment });
    const holder = await holderOf(owned.mark.gitDir, into);
    if (holder) await assertClean(holder.checkout, into);
    await mergedTree(owned, target, head, environment);
  });
}

async function assertMergeable(owned: Owned, into: string, request: MergeRequest): Promise<void> {
  if (request.message.trim() === "" || request.message.includes("\0")) {
    throw new AsyncAgentsError("invalid_input", "A merge needs a message. Say what the attempt has done.");
  }
  if (into === owned.mark.branch) {
    throw new AsyncAgentsError("invalid_input", `${into} is the attempt's own branch. Name the branch to merge into.`);
  }
  await tipOf(owned.repoPlace, into);
  await assertFiltersKnown(owned.repoPlace);
  const branch = await branchOf(owned);
  if (branch !== owned.mark.branch) {
    const where = branch ? `branch ${branch}` : "a commit without a branch";
    const message = `${owned.path} is on ${where}, not on ${owned.mark.branch}. Switch back, or merge by hand.`;
    throw new AsyncAgentsError("worktree_busy", message);
  }
  const paths = await uncommittedPaths(owned);
  if (paths.length === 0 || request.commit) return;
  throw new AsyncAgentsError(
    "worktree_dirty",
    `${owned.path} has uncommitted changes (${brief(paths)}). Commit them there, or merge with commit: true.`,
    { details: { paths: paths.slice(0, 100) } },
  );
}

/** Null if the target branch has moved meanwhile. */
async function mergeOnce(
  owned: Owned,
  { into, message, squash }: MergeRequest & { into: string },
  head: string,
): Promise<Omit<Merged, "hooksNotRun"> | null> {
  const { repoPlace: repo } = owned;
  const target = await tipOf(repo, into);
  const unchanged = { into, commit: target, changed: false, landed: null, checkout: null };
  if (await isAncestor(repo, head, target)) return unchanged;
  const holder = await holderOf(owned.mark.gitDir, into);
  if (holder) await assertClean(holder.checkout, into);
  const tree = await mergedTree(owned, target, head);
  if (squash && tree === (await git(repo, ["rev-parse", `${target}^{tree}`]))) return unchanged;
  const parents = squash ? [target] : [target, head];
  const commit = await commitTree(repo, { tree, parents, message });
  const landed = holder?.checkout
    ? await forwardCheckout(holder.checkout, into, target, commit)
    : await moveBranch(repo, into, target, commit);
  return landed ? { into, commit, changed: true, landed: commit, checkout: holder?.checkout?.cwd ?? null } : null;
}

async function mergedTree(
  owned: Owned,
  target: string,
  head: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const { repoPlace: repo } = owned;
  const sides = await mergeSides(owned, target, head, environment);
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides];
  const answer = await tryGit(repo, args, { environment });
  const [tree = "", ...files] = answer.stdout.toString("utf8").split("\0");
  if (answer.code === 0) return tree;
  if (answer.code !== 1) throw gitFailure(repo, args, answer);
  const conflicts = files.filter((file) => file !== "");
  const { targetBranch } = owned.mark;
  throw new AsyncAgentsError(
    "merge_conflict",
    `The target branch ${targetBranch} has changed the same lines: ${brief(conflicts)}. Nothing was merged. In ${owned.path}, commit, run \`git merge ${targetBranch}\` and resolve the conflicts (an agent can do it too, as a follow-up), then merge again.`,
    { details: { files: conflicts } },
  );
}

/**
 * After a squash, git still uses the old merge base, and treats everything that was squashed as a change on both sides.
 * So both sides get a stand-in commit whose common base contains what was squashed.
 */
async function mergeSides(
  owned: Owned,
  target: string,
  head: string,
  environment: Record<string, string>,
): Promise<string[]> {
  const { repoPlace: repo } = owned;
  const [common] = (await squashed(owned.mark, target)) ?? [];
  const isSquash =
    common && !(await isAncestor(repo, common, target)) && (await isAncestor(repo, common, head, environment));
  if (!isSquash) return [target, head];
  const standIn = (of: string, parents: string[]) =>
    commitTree(repo, { tree: `${of}^{tree}`, parents, message: "stand-in", environment });
  const ground = await standIn(common, []);
  return Promise.all([target, head].map((side) => standIn(side, [ground])));
}

interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  environment?: Record<string, string>;
}

function commitTree(place: GitLocation, { tree, parents, message, environment = {} }: NewCommit): Promise<string> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  return git(place, args, { input: withLineEnd(message), environment });
}

/** Rejects a branch that is in the middle of another operation. */
async function assertClean(checkout: GitLocation | null, into: string): Promise<void> {
  if (checkout === null) {
    const message = `${into} is in the middle of a rebase or bisect. Finish or abort it, then merge again.`;
    throw new AsyncAgentsError("worktree_busy", message);
  }
  const changed = await git(checkout, [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=no",
    "--no-renames",
    "--ignore-submodules=dirty",
  ]);
  if (changed === "") return;
  const paths = changed.split("\0").flatMap((entry) => (entry === "" ? [] : [entry.slice(3)]));
  throw new AsyncAgentsError(
    "worktree_busy",
    `${into} is checked out in ${checkout.cwd} with uncommitted changes (${brief(paths)}). Commit or stash them there, then merge again.`,
    { details: { checkout: checkout.cwd, paths: paths.slice(0, 100) } },
  );
}

async function forwardCheckout(place: GitLocation, into: string, from: string, to: string): Promise<boolean> {
  const args = ["merge", "--quiet", "--ff-only", "--no-autostash", "--no-stat", to];
  const answer = await tryGit(place, args);
  if (answer.code === 0) return true;
  if ((await tipOf(place, into)) !== from) return false;
  throw new AsyncAgentsError(
    "worktree_busy",
    `${into} is checked out in ${place.cwd}, and git cannot fast-forward it: ${answer.stderr.trim()} Make room there, then merge again.`,
    { details: { checkout: place.cwd } },
  );
}

async function moveBranch(place: GitLocation, into: string, from: string, to: string): Promise<boolean> {
  const args = ["update-ref", "-m", "merge: asyncagents", `refs/heads/${into}`, to, from];
  const answer = await tryGit(place, args);
  if (answer.code === 0) return true;
  if ((await tipOf(place, into)) !== from) return false;
  throw gitFailure(place, args, answer);
}

function brief(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(", ");
  return paths.length > 5 ? `${shown} and ${paths.length - 5} more` : shown;
}
