/**
 * What a task has done in its worktree: how much it changed, which of these files other live tasks of the repository
 * have changed, too, and how to merge it. Looks at git when it is asked, so that it is true then. Changes nothing.
 */
import type { TaskChanges } from "../../model/text/task-changes.ts";
import { diffOf } from "../diff.ts";
import { inspectRepo } from "../git/repo.ts";
import { markedAt } from "../mark.ts";
import { uncommittedIn } from "../surprises.ts";
import { worktreeStateOf } from "../worktree-state.ts";
import { taskWorktreeAt } from "./task-worktree.ts";

/** A live task beside it. */
export interface OtherTask {
  id: string;
  directory: string;
}

const SHOWN = 20;
const COMPARED = 1_000;
const MOST_OTHERS = 20;

/** Null if the folder is not in the worktree of a task. Rejects if it cannot be read. */
export async function taskChanges(
  worktrees: string,
  directory: string,
  others: readonly OtherTask[],
): Promise<TaskChanges | null> {
  const marked = taskWorktreeAt(worktrees, directory);
  if (marked === null) return null;
  const { path, mark } = marked;
  const diff = await diffOf(path, { maxBytes: 0, maxFiles: COMPARED });
  const state = await worktreeStateOf(path);
  const own = new Set(diff.files.flatMap(({ path: file, from }) => (from === null ? [file] : [file, from])));
  const conflicts: TaskChanges["conflicts"] = [];
  for (const other of others.filter((each) => each.directory !== directory).slice(0, MOST_OTHERS)) {
    const files = await filesOf(worktrees, other.directory, mark.gitDir);
    conflicts.push(...files.filter((file) => own.has(file)).map((file) => ({ file, taskId: other.id })));
  }
  return {
    path,
    repo: mark.repo,
    branch: mark.branch,
    targetBranch: mark.targetBranch,
    fileCount: diff.fileCount,
    insertions: diff.insertions,
    deletions: diff.deletions,
    files: diff.files.slice(0, SHOWN).map(({ path: file }) => file),
    uncommittedCount: state.uncommittedCount,
    commits: state.aheadOfTarget,
    conflicts: conflicts.slice(0, SHOWN),
    incomplete: diff.incomplete,
  };
}

/** What is changed where another task works, if that is the same repository. One that cannot be read has nothing. */
async function filesOf(worktrees: string, directory: string, gitDir: string): Promise<string[]> {
  const marked = taskWorktreeAt(worktrees, directory) ?? markedAt(directory);
  try {
    if (marked !== null) {
      if (marked.mark.gitDir !== gitDir) return [];
      return (await diffOf(marked.path, { maxBytes: 0, maxFiles: COMPARED })).files.map(({ path }) => path);
    }
    const repo = await inspectRepo(directory);
    return repo.gitDir === gitDir && !repo.bare ? await uncommittedIn(repo.place) : [];
  } catch {
    return [];
  }
}
