/**
 * What exists only in a worktree: commits of submodules and other repositories inside it, and commits without a branch.
 * A merge that refers to them would be broken, and a removal would destroy them. Read-only.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { git } from "./git/git.ts";
import { commitsOnlyIn, isOnlyIn, leftBehind, nestedRepos, unreachable } from "./git/nested-repos.ts";
import type { Marked } from "./mark.ts";
import { checkoutPlace, type Owned } from "./owned.ts";

/** Rejects a tree that names commits of nested repositories which exist only in this worktree. */
export async function assertLinksElsewhere(
  owned: Owned,
  tree: string,
  environment: Record<string, string>,
): Promise<void> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", owned.mark.baseCommit, tree];
  const changes = (await git(owned.repoPlace, args, { environment })).split("\0");
  const linked = changes.flatMap((field) => /^:\d+ 160000 \S+ ([0-9a-f]+)/.exec(field)?.[1] ?? []);
  if (linked.length === 0) return;
  for (const nested of await nestedRepos(owned)) {
    for (const commit of linked) {
      if (!(await isOnlyIn(nested, commit))) continue;
      throw new AsyncAgentsError(
        "worktree_unmerged",
        `${nested.path} is a separate repository, and its commit ${commit.slice(0, 12)} exists only in this worktree, so nobody could check it out after the merge. Push it from ${nested.place.cwd}, then merge again. Nothing was merged.`,
        { details: { path: nested.path, commit } },
      );
    }
  }
}

/** What a removal would destroy for good, as a sentence; null if nothing. */
export async function lossOf({ path, mark }: Marked, adminFolder: string | null): Promise<string | null> {
  for (const nested of await nestedRepos({ path, mark, adminFolder })) {
    const commits = await commitsOnlyIn(nested);
    if (commits.length === 0) continue;
    return `${nested.path} is a separate repository with commits that exist nowhere else (${brief(commits)}). Push them from there, or move it away`;
  }
  if (adminFolder === null) return null;
  const place = { ...checkoutPlace(path, adminFolder, mark.gitDir), cwd: mark.gitDir };
  const left = leftBehind(adminFolder);
  const commits = await unreachable(place, left, ["--all"]);
  if (commits.length === 0) return null;
  return `it has commits that are on no branch (${brief(commits)}). Give them one: git -C ${mark.repo} branch <name> ${commits[0]}`;
}

function brief(commits: readonly string[]): string {
  return commits.map((commit) => commit.slice(0, 12)).join(", ");
}
