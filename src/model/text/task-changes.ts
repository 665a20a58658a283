/**
 * What a task has done in a worktree of its own, and its wording for people and models. Pure: `src/worktree/tasks`
 * finds it out.
 */
import { asLine } from "./foreign-text.ts";

export interface TaskChanges {
  path: string;
  repo: string;
  branch: string;
  targetBranch: string;
  fileCount: number;
  insertions: number;
  deletions: number;
  /** The first of them. */
  files: string[];
  uncommittedCount: number;
  /** Commits that the target branch lacks. */
  commits: number;
  /** Files that other live tasks of the repository have changed, too; the first of them. */
  conflicts: { file: string; taskId: string }[];
  /** What git could not read. */
  incomplete: string | null;
}

const NAME = 200;

/** For people and models: a few lines, in which names of files cannot pass for our own words. */
export function changesText(changes: TaskChanges): string {
  const { path, repo, branch, targetBranch, fileCount, insertions, deletions, files, incomplete } = changes;
  const { uncommittedCount, commits, conflicts } = changes;
  if (fileCount === 0 && uncommittedCount === 0) return `Its worktree ${path}, on branch ${branch}, has no changes.`;
  const named = files.map((file) => asLine(file, NAME)).join(", ");
  const more = fileCount > files.length ? ` and ${fileCount - files.length} more` : "";
  const lines = [
    `It changed ${fileCount} file${fileCount === 1 ? "" : "s"} (+${insertions} −${deletions}) in its worktree ${path}, on branch ${branch}: ${named}${more}.`,
  ];
  if (incomplete !== null) lines.push(`Git could not read everything: ${asLine(incomplete, NAME)}.`);
  for (const { file, taskId } of conflicts) {
    lines.push(`Conflict ahead: ${asLine(file, NAME)} is also changed by task ${taskId}, which is still running.`);
  }
  const [there, here] = [quoted(path), quoted(repo)];
  const commit = `git -C ${there} add -A && git -C ${there} commit -m "what it is"`;
  const merge = `git -C ${here} merge ${branch}`;
  const isCommitted = uncommittedCount === 0;
  lines.push(
    isCommitted && commits === 0
      ? `All of it is in ${targetBranch}.`
      : `To merge it into ${targetBranch}: ${isCommitted ? merge : `${commit} && ${merge}`}. It stays until it is merged.`,
  );
  return lines.join("\n");
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
