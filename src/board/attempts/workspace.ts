/**
 * Finds the attempt a directory belongs to: the longest matching path of a worktree, or of the folder above several
 * worktrees, compared segment by segment.
 */
import { realpathSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { requiredText } from "../wire.ts";
import { findAttempt } from "./attempts.ts";

export async function getContext(
  parts: BoardParts,
  input: Input<"get_context">,
): Promise<OperationOutput<"get_context">> {
  const directory = requiredText("directory", input.directory);
  const id = await parts.store.board.attemptAt(pathsUpFrom(directory));
  if (id === null) throw noContext(directory);
  const { attempt } = await findAttempt(parts, id);
  const project = await parts.store.board.project(attempt.item.projectId);
  return {
    project_id: attempt.item.projectId,
    project_name: project?.name ?? "",
    task_id: attempt.workItemId,
    task_title: attempt.item.title,
    task_status: attempt.item.status,
    attempt_id: attempt.id,
    workspace_branch: attempt.branch,
    workspace_repos: attempt.repos.map(({ repoId, name, targetBranch }) => ({
      repo_id: repoId,
      repo_name: name,
      target_branch: targetBranch,
    })),
  };
}

/** The real path and all its parents, longest first. */
function pathsUpFrom(directory: string): string[] {
  if (!isAbsolute(directory)) {
    const message = "directory must be an absolute path.";
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "directory" } });
  }
  let path: string;
  try {
    path = realpathSync(directory);
  } catch {
    throw noContext(directory);
  }
  const paths = [path];
  while (dirname(path) !== path) {
    path = dirname(path);
    paths.push(path);
  }
  return paths;
}

function noContext(directory: string): AsyncAgentsError {
  const message = `${directory.slice(0, 300)} is not in the workspace of an attempt. list_projects is where to begin instead.`;
  return new AsyncAgentsError("not_found", message, {
    details: { what: "context", directory: directory.slice(0, 300) },
  });
}
