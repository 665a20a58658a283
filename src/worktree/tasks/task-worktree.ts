/**
 * The worktree of a task that was launched with one: made from the branch that is checked out where it was launched, on
 * a branch of its own. Made by the same code as those of attempts, in a folder beside theirs. Invariant: what is in one
 * and nowhere else is not removed, whoever asks.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { inspectRepo } from "../git/repo.ts";
import { type MayUse, makeWorktrees } from "../make.ts";
import { type Marked, markedAt, marksIn } from "../mark.ts";
import { checkRemoval, pruneWorktrees, removeWorktrees } from "../remove.ts";
import { surprisesOf } from "../surprises.ts";
import { removeUnused, type Tidying } from "../tidying.ts";

/** How many there may be at once. */
const MOST = 200;
/** One that nobody needs any more is kept for a day: somebody may look at it. */
const YOUNG_MS = 86_400_000;

export interface TaskWorktree {
  /** The folder to work in: the one that the task was launched for, within the worktree. */
  directory: string;
  branch: string;
  /** What a person may not expect, as sentences. */
  warnings: string[];
}

/** The folder for the worktrees of tasks, in that for all worktrees. */
export const taskWorktreesIn = (worktrees: string) => join(worktrees, "tasks");

/** Rejects a folder that is in no repository, or whose repository may not be used or has no branch checked out. */
export async function makeTaskWorktree(request: {
  /** The folder for all worktrees. */
  worktrees: string;
  /** Never used before. */
  id: string;
  /** What the task is about; part of the names of folder and branch. */
  name: string;
  /** Where it was launched. Whoever can write there can refer to any repository (`.git` files, links). */
  directory: string;
  mayUse: MayUse;
}): Promise<TaskWorktree> {
  const { id, name, mayUse } = request;
  const base = taskWorktreesIn(request.worktrees);
  const repo = await inspectRepo(request.directory).catch(explained);
  // A link that takes its place later must not lead out of the worktree.
  const within = relative(repo.root, realpathSync(request.directory));
  // Before anything of it is told.
  await mayUse(repo);
  if (repo.currentBranch === null) {
    const message = `${repo.root} has no branch checked out, so there is nothing to start a worktree from. Check one out (git switch <branch>), or launch without worktree.`;
    throw new AsyncAgentsError("branch_not_found", message);
  }
  if (marksIn(base).length >= MOST) {
    const message = `There are ${MOST} worktrees of tasks in ${base}, with work that is nowhere else. Merge or remove some of them (git worktree remove), or launch without worktree.`;
    throw new AsyncAgentsError("worktree_exists", message);
  }
  const repos = [{ path: repo.root, targetBranch: repo.currentBranch }];
  const [made] = await makeWorktrees({ attemptId: id, base, name, repos, mayUse });
  if (made === undefined) throw new AsyncAgentsError("internal", "No worktree was made.");
  const warnings = await surprisesOf(repo, repo.currentBranch, null);
  const directory = folderIn(made.path, within);
  return { directory, branch: made.branch, warnings };
}

/**
 * The folder of the launch within the worktree, or the worktree itself: what is not committed is not there, and the
 * commit may have a link there, which could lead anywhere.
 */
function folderIn(worktree: string, within: string): string {
  const folder = join(worktree, within);
  if (!`${folder}/`.startsWith(`${worktree}/`)) return worktree;
  try {
    return realpathSync(folder) === folder && statSync(folder).isDirectory() ? folder : worktree;
  } catch {
    return worktree;
  }
}

function explained(thrown: unknown): never {
  if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "repo_invalid") throw thrown;
  const message = `A task can have a worktree only in a git repository. ${thrown.message} Or launch without worktree.`;
  throw new AsyncAgentsError("repo_invalid", message, { cause: thrown, details: thrown.details });
}

/** For a launch that failed: no agent has worked there. */
export async function dropTaskWorktree({ worktrees, id }: { worktrees: string; id: string }): Promise<void> {
  await removeWorktrees({ base: taskWorktreesIn(worktrees), attemptId: id, force: true });
}

/** The worktree of a task that a folder is in; null if it is in none. */
export function taskWorktreeAt(worktrees: string, directory: string): Marked | null {
  const base = taskWorktreesIn(worktrees);
  if (!existsSync(base)) return null;
  const root = realpathSync(base);
  if (!directory.startsWith(`${root}/`)) return null;
  const [task = "", repo = ""] = relative(root, directory).split("/");
  return markedAt(join(root, task, repo));
}

interface TidyRequest extends Tidying {
  /** The folder for all worktrees. */
  worktrees: string;
  now: number;
}

/** Removes those that nobody works in and whose work is all merged. Returns their paths. */
export async function tidyTaskWorktrees(request: TidyRequest): Promise<string[]> {
  const base = taskWorktreesIn(request.worktrees);
  if (!existsSync(base)) return [];
  const removed = (await pruneWorktrees(base, request)).map(({ path }) => path);
  for (const { path, mark } of marksIn(base)) {
    if (request.now - Date.parse(mark.createdAt) < YOUNG_MS) continue;
    const { attemptId } = mark;
    await removeUnused(request, path, async (vacate) => {
      // Rejected if something of it is nowhere else.
      const mayGo = await checkRemoval({ base, attemptId }).then(
        () => true,
        () => false,
      );
      if (!mayGo) return;
      await vacate();
      removed.push(...(await removeWorktrees({ base, attemptId })).map((each) => each.path));
    });
  }
  return removed;
}
