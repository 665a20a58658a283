/**
 * Task, run, status and phase. Plain data, no behaviour. A task is one delegated piece of work; a run is one prompt
 * within it (the launch is run 0, the n-th resume is run n). Times are milliseconds since the epoch.
 */
import type { After } from "./after.ts";
import type { Door, GivenAnswer } from "./answer.ts";
import type { Progress } from "./progress.ts";

/** The longest name of an agent, a host or a model, in characters. Indexes of the store rely on it. */
export const MAX_NAME = 200;

export const STATUSES = ["running", "completed", "error", "cancelled", "resumed"] as const;
export type Status = (typeof STATUSES)[number];

/** What lists of tasks can be sorted by: a store has an index for each. */
export const TASK_SORTS = ["started", "took", "cost", "description", "status"] as const;
export type TaskSort = (typeof TASK_SORTS)[number];

export const WAKES = ["each", "all", "failures", "never"] as const;
/**
 * Which ends start a turn of the parent: each one, only the last one of the batch, only errors, or none. What starts no
 * turn is told all the same.
 */
export type Wake = (typeof WAKES)[number];

export const PHASES = ["queued", "starting", "working", "retrying", "waiting", "stalled", "paused"] as const;
/** What a live task is doing; null once it has ended. */
export type Phase = (typeof PHASES)[number];

/**
 * Explains a phase. `answered`: the last request has been answered; kept after the run ends, until the next run.
 * `appliedAt`: when the agent then showed that it went on.
 */
export type PhaseDetail =
  | AfterDetail
  | RetryingDetail
  | PausedDetail
  | WaitingDetail
  | ({ kind: "answered"; requestId: string; at: number; appliedAt?: number } & GivenAnswer);

/**
 * The task has not started. `after`: it waits until its predecessors have ended. `blocked`: one of them, `by`, did not
 * complete, and a person has to decide.
 */
export type AfterDetail = { kind: "after" } | { kind: "blocked"; by: string; text: string; at: number };

/** The host tries again by itself. */
export interface RetryingDetail {
  kind: "retrying";
  reason: string;
  count: number;
  /** When it tries next; absent if the host does not say. */
  next?: number;
  /** When the provider said that it will be back; absent if it did not. */
  until?: number;
}

export const PAUSE_CAUSES = ["quota", "stall"] as const;
/** `quota`: the provider said when it will be back. `stall`: the run was stopped because it showed no sign of life. */
export type PauseCause = (typeof PAUSE_CAUSES)[number];

/** Nothing is at work. The run goes on by itself at that time, in the same session. */
export interface PausedDetail {
  kind: "paused";
  cause: PauseCause;
  until: number;
  reason: string;
  /** How often the run was paused for this cause, this time included. */
  count: number;
}

/** What the agent asks a person. */
export interface WaitingDetail {
  kind: "waiting";
  requestId: string;
  asks: "permission" | "question";
  text: string;
  /** When it was asked; absent in what earlier versions stored. */
  at?: number;
  /** Where people have seen it. */
  seen?: readonly Door[];
  /** What a written rule does if nobody has answered by that time. */
  policy?: { until: number; decision: "allow" | "deny"; reason: string };
}

export interface Run {
  /** 0 for the launch, then 1 for the first resume, and so on. */
  number: number;
  prompt: string;
  /** The id of the prompt's message: only what follows it is evidence of this run. */
  messageId: string;
  startedAt: number;
  endedAt: number | null;
  outcome: "completed" | "error" | "cancelled" | null;
  result: string | null;
  error: string | null;
  /** The task's totals when the run began; the run's own progress is added to them. */
  before: Progress;
  /** Null if it never was. */
  pauses: Pauses | null;
}

/** How often a run was paused, and what for. */
export interface Pauses extends Record<PauseCause, number> {
  /** How long it was to wait for quotas, in all. */
  waitMs: number;
  /** The task's totals at the newest pause: what the run shows from its next prompt on is added to them. */
  progress: Progress;
}

/** The task's totals before what the run's newest prompt adds to them. */
export function usedBefore({ before, pauses }: Pick<Run, "before" | "pauses">): Progress {
  return pauses?.progress ?? before;
}

/** Where the work of a task is whose runner had to get the repository. It is not removed while it has work in it. */
export interface TaskClone {
  /** The machine's name, for people. */
  hostname: string;
  remote: string;
  /** The branch that is checked out for the task. */
  branch: string;
}

export interface Task {
  /** Equal to `sessionId`, unless the task had to wait before it got a session; pass only `sessionId` to hosts. */
  id: string;
  /** Empty while the task waits for a runner, or for its predecessors: whoever starts it makes the session. */
  sessionId: string;
  host: string;
  directory: string;
  /** Empty if a person launched the task: then no session is notified, and every session can see it. */
  parentSessionId: string;
  parentMessageId: string;
  parentAgent: string;
  description: string;
  agent: string;
  /** `provider/model`, or null for the host's default. */
  model: string | null;
  batchId: string;
  isForked: boolean;
  wake: Wake;
  /** The tasks that it starts after; null if it did not wait for any. */
  after: After | null;
  status: Status;
  phase: Phase | null;
  phaseDetail: PhaseDetail | null;
  run: Run;
  startedAt: number;
  completedAt: number | null;
  resultRetrievedAt: number | null;
  /** When the task was cleared from the list; it stays in the history and can be resumed. */
  clearedAt: number | null;
  /** Asks the process that drives the task to cancel it; null once the task has ended. */
  cancelRequestedAt: number | null;
  /** The instance that drives the task while it is live. */
  owner: string | null;
  /** Grows with each adoption and each resume. What names an earlier one comes from somebody who lost the run. */
  fence: number;
  /** The machine that has the session; empty if that is unknown, or the store is used by one machine only. */
  machine: string;
  /** Null if it works in the folder that it was launched for. */
  clone: TaskClone | null;
  progress: Progress;
}

export function isLive(status: Status): boolean {
  return status === "running" || status === "resumed";
}

/** The status of a task when that run has ended, or until then. */
export function statusAfter(run: Pick<Run, "outcome"> | null): Status {
  return run?.outcome ?? "running";
}

/** Whether the task waits to be started, by a runner or by whoever has its folder open, and has no session yet. */
export function awaitsRunner({ status, sessionId }: Pick<Task, "status" | "sessionId">): boolean {
  return isLive(status) && sessionId === "";
}

/** Whether the task waits for predecessors: it may not be started yet. */
export function awaitsOthers(task: Pick<Task, "status" | "sessionId" | "phaseDetail">): boolean {
  const kind = task.phaseDetail?.kind;
  return awaitsRunner(task) && (kind === "after" || kind === "blocked");
}

/** Whether a caller that waits for the task can stop: it has ended, or it cannot continue until someone answers. */
export function endsWait({ status, phase }: Pick<Task, "status" | "phase">): boolean {
  return !isLive(status) || phase === "waiting";
}

/** The duration of the newest run, up to now if it is still going. */
export function runDuration(task: Pick<Task, "run">, now: number): number {
  return Math.max(0, (task.run.endedAt ?? now) - task.run.startedAt);
}
