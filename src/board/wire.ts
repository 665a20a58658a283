/** Converts the board's records to the wire format. Pure. */

import { type Attempt, isQueueHeld, type WorkItem } from "../model/board.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { isLive, type Phase, type Status, type Task } from "../model/task.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import type {
  AttemptRecord,
  AttemptRow,
  AttemptSummary,
  FollowUpQueue,
  ListedAttempt,
  WorkItemRow,
} from "../store/board/records.ts";
import { executorOf } from "./executors.ts";

const ASKED = 2_000;
const FINAL = 8_000;

type AttemptState = OperationOutput<"stop_attempt">["state"];

export function wireTime(at: number): string {
  return new Date(at).toISOString();
}

/** A text that must not be empty. */
export function requiredText(field: string, text: string | undefined): string {
  if (text !== undefined && text.trim() !== "") return text;
  throw new AsyncAgentsError("missing_required", `${field} is missing or empty. Give it as a text.`, {
    details: { field },
  });
}

export function wireItemRow(item: WorkItemRow): OperationOutput<"list_tasks">["tasks"][number] {
  return {
    id: item.id,
    title: item.title,
    status: item.status,
    created_at: wireTime(item.createdAt),
    updated_at: wireTime(item.updatedAt),
    latest_attempt_id: item.latestAttemptId,
    latest_attempt_state: latestStateOf(item),
    latest_workspace_branch: item.latestBranch,
    latest_session_id: item.latestSessionId,
    latest_session_executor: item.latestHost === null ? null : executorOf(item.latestHost),
    has_in_progress_attempt: item.inProgress,
    last_attempt_failed: item.lastFailed,
  };
}

export function wireItem(item: WorkItem & AttemptSummary): OperationOutput<"get_task">["task"] {
  return { ...wireItemRow(item), project_id: item.projectId, description: item.description };
}

export function wireAttemptRow(attempt: AttemptRow): OperationOutput<"list_task_attempts">["attempts"][number] {
  const { latestSession } = attempt;
  return {
    attempt_id: attempt.id,
    state: standingOf(attempt.state, attempt.taskStatus, attempt.taskPhase),
    workspace_branch: attempt.branch,
    created_at: wireTime(attempt.createdAt),
    updated_at: wireTime(attempt.updatedAt),
    latest_session_id: latestSession?.id ?? null,
    latest_session_executor: latestSession === null ? null : executorOf(latestSession.host),
  };
}

export function wireListedAttempt(attempt: ListedAttempt): OperationOutput<"list_attempts">["attempts"][number] {
  return {
    attempt_id: attempt.id,
    task_id: attempt.workItemId,
    task_title: attempt.title,
    project_id: attempt.projectId,
    state: standingOf(attempt.state, attempt.taskStatus, attempt.taskPhase),
    executor: executorOf(attempt.host),
    workspace_branch: attempt.branch,
    latest_session_id: attempt.latestSession?.id ?? null,
    queued_count: attempt.queuedCount,
    created_at: wireTime(attempt.createdAt),
    updated_at: wireTime(attempt.updatedAt),
  };
}

export function stateOf(attempt: Pick<AttemptRecord, "state">, task: Task | null): AttemptState {
  return standingOf(attempt.state, task?.status ?? null, task?.phase ?? null);
}

/** The state of an attempt: the state of its newest task takes precedence over what was done with the attempt. */
function standingOf(state: Attempt["state"], status: Status | null, phase: Phase | null): AttemptState {
  if (status !== null && isLive(status)) return phase === "waiting" ? "waiting" : "running";
  if (state !== "ready") return state;
  if (status === "completed") return "completed";
  return status === "cancelled" ? "stopped" : "failed";
}

function latestStateOf(item: AttemptSummary): AttemptState | null {
  const { latestAttemptState: state, latestTaskStatus, latestTaskPhase } = item;
  return state === null ? null : standingOf(state, latestTaskStatus, latestTaskPhase);
}

export function askedOf(task: Task | null): OperationOutput<"get_attempt">["asked"] {
  const detail = task !== null && isLive(task.status) ? task.phaseDetail : null;
  return detail?.kind === "waiting" ? { kind: detail.asks, text: detail.text.slice(0, ASKED) } : null;
}

export function finalMessage(task: Task | null): string | null {
  return task?.run.result?.slice(0, FINAL) ?? null;
}

/** Why queued follow-ups wait although the session is idle, and how to continue; null if none are waiting. */
export function heldOf(task: Task | null, { head, afterRun }: FollowUpQueue): string | null {
  if (task === null || head === null || isLive(task.status)) return null;
  if (head.error !== null) return `The next one could not begin: ${head.error}`;
  if (!isQueueHeld(task.run, afterRun)) return null;
  const how = task.run.outcome === "cancelled" ? "was stopped" : "failed";
  return `The newest run ${how}, and the queued prompts may depend on its work. Send or queue another follow-up to continue, or cancel them.`;
}

/** The progress of a task in one line. */
export function progressLine(task: Task | null): string {
  if (task === null) return "nothing yet";
  const { phaseDetail: detail } = task;
  if (detail?.kind === "after") return `not started: it starts after ${task.after?.tasks.join(", ")}`;
  if (detail?.kind === "blocked") return `not started: ${detail.text} A person has to decide.`;
  const { toolCalls, lastTools, tokens } = task.progress;
  const calls = toolCalls === 1 ? "1 tool call" : `${toolCalls} tool calls`;
  const last = lastTools.length === 0 ? "" : ` (last: ${lastTools.join(", ")})`;
  return `run ${task.run.number}, ${calls}${last}, ${tokens.output} tokens written${delayOf(task)}`;
}

/** What keeps a live task from working that nobody is asked about. */
function delayOf({ status, phaseDetail: detail }: Task): string {
  if (!isLive(status)) return "";
  if (detail?.kind === "paused") return `; waiting until ${wireTime(detail.until)} (${detail.cause})`;
  if (detail?.kind !== "retrying") return "";
  const next = detail.next === undefined ? "" : `, next at ${wireTime(detail.next)}`;
  return `; its provider fails, retry ${detail.count}${next}`;
}
