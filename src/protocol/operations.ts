/**
 * All operations as one table. HTTP routes, the OpenAPI document, the client's methods, MCP tools, commands and the
 * dashboard are bound to it, so they cannot disagree. MCP clients see the tools in this order. No behaviour.
 */
import type { z } from "zod";
import type { StatusOperationName } from "./addresses.ts";
import { approvalOperations } from "./board/approvals.ts";
import { attemptOperations } from "./board/attempts.ts";
import { endOperations } from "./board/ends.ts";
import { executorOperations } from "./board/executors.ts";
import { followUpOperations } from "./board/follow-ups.ts";
import { launchedTaskOperations } from "./board/launched-tasks.ts";
import { projectOperations } from "./board/projects.ts";
import { repoOperations } from "./board/repos.ts";
import { workItemOperations } from "./board/work-items.ts";
import { budgetOperations } from "./budgets.ts";
import type { CallOrigin } from "./call-origin.ts";
import { conversationOperations } from "./conversations.ts";
import { eventOperations } from "./events.ts";
import { inboxBoardOperations, inboxOperations } from "./inbox.ts";
import { notificationOperations } from "./notifications.ts";
import type { Operation } from "./operation.ts";
import { runnerOperations } from "./runners.ts";
import { serverOperations } from "./server.ts";
import { spanOperations } from "./spans.ts";
import { statisticsOperations } from "./statistics.ts";
import { steeringOperations } from "./steering.ts";
import { taskOperations } from "./tasks.ts";

const { list_projects, add_project, remove_project } = projectOperations;
const { list_repos, add_repo, find_repo, update_repo, remove_repo } = repoOperations;
const { list_tasks, get_task, create_task, update_task, delete_task, get_context } = workItemOperations;
const { list_task_attempts, start_task_attempt, get_attempt, stop_attempt, get_attempt_diff } = attemptOperations;
const { merge_attempt, remove_attempt, attempt_task, list_attempts } = attemptOperations;
const { follow_up, list_follow_ups } = followUpOperations;
const { launch_task, wait_tasks, answer_question, steer_task, lower_budget } = launchedTaskOperations;
const { read_end, follow_launch, next_ends, hear_ends, stop_launch } = endOperations;
const { list_executors } = executorOperations;
const { list_inbox } = inboxBoardOperations;
const { list_approvals, decide_approval, allow_directory } = approvalOperations;

// With these types, the compiler rejects a table that leaves out an operation of a noun.
type StatusOperations = typeof taskOperations &
  typeof steeringOperations &
  typeof budgetOperations &
  typeof conversationOperations &
  typeof statisticsOperations &
  typeof spanOperations &
  typeof eventOperations &
  typeof inboxOperations &
  typeof serverOperations &
  typeof runnerOperations &
  typeof notificationOperations;

type BoardOperations = typeof projectOperations &
  typeof repoOperations &
  typeof workItemOperations &
  typeof attemptOperations &
  typeof followUpOperations &
  typeof launchedTaskOperations &
  typeof endOperations &
  typeof executorOperations &
  typeof inboxBoardOperations &
  typeof approvalOperations;

/** Performed by any server, or forwarded to the process that can. */
const STATUS_OPERATIONS: StatusOperations & Record<StatusOperationName, Operation> = {
  tasks: taskOperations.tasks,
  selection: taskOperations.selection,
  task: taskOperations.task,
  runs: taskOperations.runs,
  logs: conversationOperations.logs,
  group: statisticsOperations.group,
  spans: spanOperations.spans,
  stats: statisticsOperations.stats,
  history: statisticsOperations.history,
  usage: statisticsOperations.usage,
  events: eventOperations.events,
  inbox: inboxOperations.inbox,
  health: serverOperations.health,
  troubles: serverOperations.troubles,
  instances: serverOperations.instances,
  runners: runnerOperations.runners,
  notifications: notificationOperations.notifications,
  testNotification: notificationOperations.testNotification,
  retryNotification: notificationOperations.retryNotification,
  pushKey: notificationOperations.pushKey,
  subscribePush: notificationOperations.subscribePush,
  unsubscribePush: notificationOperations.unsubscribePush,
  openapi: serverOperations.openapi,
  caller: serverOperations.caller,
  audit: serverOperations.audit,
  pageToken: serverOperations.pageToken,
  launch: taskOperations.launch,
  edit: taskOperations.edit,
  cancel: taskOperations.cancel,
  remove: taskOperations.remove,
  attach: taskOperations.attach,
  resume: taskOperations.resume,
  fork: taskOperations.fork,
  tell: taskOperations.tell,
  answer: taskOperations.answer,
  seen: inboxOperations.seen,
  read: inboxOperations.read,
  steer: steeringOperations.steer,
  steering: steeringOperations.steering,
  cancelSteering: steeringOperations.cancelSteering,
  budgets: budgetOperations.budgets,
  setBudget: budgetOperations.setBudget,
};

/** Performed by the daemon. */
export const BOARD_OPERATIONS: BoardOperations = {
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
  list_inbox,
  steer_task,
  lower_budget,
  // For programs that follow launches.
  read_end,
  follow_launch,
  next_ends,
  hear_ends,
  stop_launch,
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

export const OPERATIONS: StatusOperations & BoardOperations = { ...STATUS_OPERATIONS, ...BOARD_OPERATIONS };

export type OperationName = keyof typeof OPERATIONS;
export type BoardOperationName = keyof typeof BOARD_OPERATIONS;
/** What callers send, by operation. */
export type OperationInputs = {
  [Name in OperationName]: z.input<NonNullable<(typeof OPERATIONS)[Name]["input"]>>;
};
/** What they get, by operation. */
export type OperationOutputs = { [Name in OperationName]: z.infer<(typeof OPERATIONS)[Name]["output"]> };
export type OperationInput<Name extends OperationName> = OperationInputs[Name];
export type OperationOutput<Name extends OperationName> = OperationOutputs[Name];

/** Performs one operation of the board, here or in another process; rejects with AsyncAgentsError. */
export type CallOperation = <Name extends BoardOperationName>(
  name: Name,
  input: OperationInput<Name>,
  options?: { signal?: AbortSignal | undefined; origin?: CallOrigin },
) => Promise<OperationOutput<Name>>;

export function isBoardOperation(name: string): name is BoardOperationName {
  return Object.hasOwn(BOARD_OPERATIONS, name);
}
