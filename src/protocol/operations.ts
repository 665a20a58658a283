/**
 * All operations of the board as one table: the MCP tools, the HTTP operations, the command line and the dashboard bind
 * to it, so that none of them can disagree. Tools are listed to MCP clients in this order. No behaviour.
 */
import type { z } from "zod";
import { approvalOperations } from "./approvals.ts";
import { attemptOperations } from "./attempts.ts";
import type { CallOrigin } from "./call-origin.ts";
import { executorOperations } from "./executors.ts";
import { followUpOperations } from "./follow-ups.ts";
import { launchedTaskOperations } from "./launched-tasks.ts";
import { projectOperations } from "./projects.ts";
import { repoOperations } from "./repos.ts";
import { workItemOperations } from "./work-items.ts";

const { list_projects, add_project, remove_project } = projectOperations;
const { list_repos, add_repo, find_repo, update_repo, remove_repo } = repoOperations;
const { list_tasks, get_task, create_task, update_task, delete_task, get_context } = workItemOperations;
const { list_task_attempts, start_task_attempt, get_attempt, stop_attempt, get_attempt_diff } = attemptOperations;
const { merge_attempt, remove_attempt, attempt_task, list_attempts } = attemptOperations;
const { follow_up, list_follow_ups } = followUpOperations;
const { launch_task, wait_tasks, answer_question } = launchedTaskOperations;
const { list_executors } = executorOperations;
const { list_approvals, decide_approval, allow_directory } = approvalOperations;

export const OPERATIONS = {
  // The core toolset.
  list_projects,
  list_repos,
  list_tasks,
  list_task_attempts,
  get_task,
  create_task,
  update_task,
  delete_task,
  start_task_attempt,
  follow_up,
  get_context,
  // The extended toolset.
  get_attempt,
  stop_attempt,
  get_attempt_diff,
  merge_attempt,
  answer_question,
  add_project,
  add_repo,
  list_executors,
  launch_task,
  wait_tasks,
  // For people only.
  remove_attempt,
  remove_project,
  find_repo,
  attempt_task,
  list_attempts,
  list_follow_ups,
  list_approvals,
  decide_approval,
  allow_directory,
  update_repo,
  remove_repo,
};

export type OperationName = keyof typeof OPERATIONS;
/** What a caller gives. */
export type OperationInput<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]["input"]>;
export type OperationOutput<Name extends OperationName> = z.infer<(typeof OPERATIONS)[Name]["output"]>;

/** Does one operation, here or in another process; rejects with AsyncAgentsError. */
export type CallOperation = <Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  options?: { signal?: AbortSignal | undefined; origin?: CallOrigin },
) => Promise<OperationOutput<Name>>;

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
