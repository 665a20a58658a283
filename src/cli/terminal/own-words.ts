/**
 * Rewords the daemon's messages for the command line: they name operations and fields as agents know them, while a
 * person types commands and options. One table; a test checks that it covers every operation and every such phrase.
 * Pure.
 */
import { EXECUTOR_HOSTS, EXECUTORS } from "../../protocol/executor-names.ts";
import type { BoardOperationName } from "../../protocol/operations.ts";

const COMMAND_OF: Readonly<Record<BoardOperationName, string>> = {
  list_projects: "project ls",
  list_repos: "project repo ls <project>",
  list_tasks: "item ls",
  list_task_attempts: "attempt ls",
  get_task: "item show",
  create_task: "item add",
  update_task: "item set",
  delete_task: "item rm",
  start_task_attempt: "attempt start",
  follow_up: "attempt follow",
  get_context: "attempt ls",
  get_attempt: "attempt show",
  stop_attempt: "attempt stop",
  get_attempt_diff: "attempt diff",
  merge_attempt: "attempt merge",
  answer_question: "answer",
  add_project: "project add",
  add_repo: "project repo add",
  list_executors: "doctor",
  launch_task: "run",
  wait_tasks: "wait",
  steer_task: "steer",
  lower_budget: "budget set",
  read_end: "show",
  follow_launch: "show",
  next_ends: "hook",
  hear_ends: "hook",
  stop_launch: "cancel",
  remove_attempt: "attempt rm",
  remove_project: "project rm",
  find_repo: "project repo ls <project>",
  attempt_task: "attempt show",
  list_attempts: "attempt ls",
  list_follow_ups: "attempt queued",
  update_repo: "project repo set",
  remove_repo: "project repo rm",
  list_inbox: "inbox",
  list_approvals: "approvals",
  decide_approval: "approve",
  allow_directory: "approve",
};

/** Longer phrases first, because they contain the names. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/get_attempt with wait_ms/g, "`asyncagents attempt wait`"],
  [/follow_up, action cancel/g, "`asyncagents attempt cancel-queue`"],
  [/\bUse action queue:/g, "Use `asyncagents attempt queue`:"],
  [/\bwith (\w+):? true\b/g, "with --$1"],
  [/\buse (\w+):? true\b/g, "use --$1"],
  [/\bunless (\w+) is true\b/g, "unless --$1 is given"],
  [/\bstill has tasks\b/g, "still has items"],
  [/\bThere is no task (\S+): list_tasks\b/g, "There is no item $1: list_tasks"],
  [/\bshows those of a task\b/g, "shows those of an item"],
  [/\b(belongs to another project than) task\b/g, "$1 item"],
  [/^(?:queue\.)?(retry|priority)(?= must\b)/, "--$1"],
  [/^max_(minutes|cost)(?= must\b)/, "--max-$1"],
  [/^(?:labels|budget): (?=")/, ""],
  [/\bThere is no variant\b/g, "There is no agent"],
  ...EXECUTORS.map((name) => [new RegExp(`\\b${name}(?= cannot be used\\b)`, "g"), EXECUTOR_HOSTS[name]] as const),
];
const OPERATION = new RegExp(`\\b(${Object.keys(COMMAND_OF).join("|")})\\b`, "g");

export function ownWords(message: string): string {
  const phrased = PHRASES.reduce((text, [phrase, words]) => text.replace(phrase, words), message);
  return phrased.replace(OPERATION, (name) => `\`asyncagents ${COMMAND_OF[name as BoardOperationName]}\``);
}

/** The daemon counts runs from 0, people count from 1. */
export function runForPeople(number: number): number {
  return number + 1;
}

/** An attempt's progress, which begins with the number of its run. */
export function ownProgress(progress: string): string {
  return progress.replace(/^run (\d+)\b/, (_, number: string) => `run ${runForPeople(Number(number))}`);
}
