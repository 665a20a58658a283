/**
 * The words: task, run, status, phase. Plain data, no behaviour. A task is one delegated job; a run is one prompt
 * worked off in it (the launch is run 0, the n-th resume is run n). Times are milliseconds since the epoch.
 */
import type { GivenAnswer } from "./answer.ts";
import type { Progress } from "./progress.ts";

export const STATUSES = ["running", "completed", "error", "cancelled", "resumed"] as const;
export type Status = (typeof STATUSES)[number];

export const PHASES = ["queued", "starting", "working", "retrying", "waiting", "stalled"] as const;
/** What a live task is doing; null once it has ended. */
export type Phase = (typeof PHASES)[number];

/** What stands behind a phase that needs explaining. `answered`: what was asked last is over; kept when the run ends, until the next. */
export type PhaseDetail =
  | { kind: "retrying"; reason: string; count: number }
  | { kind: "waiting"; requestId: string; asks: "permission" | "question"; text: string }
  | ({ kind: "answered"; requestId: string; at: number } & GivenAnswer);

export interface Run {
  /** 0 for the launch, then one more for each resume. */
  number: number;
  prompt: string;
  /** The id of the prompt's own message: evidence that does not come after it is not of this run. */
  messageId: string;
  startedAt: number;
  endedAt: number | null;
  outcome: "completed" | "error" | "cancelled" | null;
  result: string | null;
  error: string | null;
  /** The task's totals when the run began; the run's own share is added to them. */
  before: Progress;
}

export interface Task {
  /** Equal to `sessionId` where the host can name a session; hosts are called with `sessionId` only. */
  id: string;
  sessionId: string;
  host: string;
  directory: string;
  /** Empty where a person launched the task: then nobody is told how it ended, and everybody can see it. */
  parentSessionId: string;
  parentMessageId: string;
  parentAgent: string;
  description: string;
  agent: string;
  /** `provider/model`, or null for the host's own choice. */
  model: string | null;
  batchId: string;
  isForked: boolean;
  status: Status;
  phase: Phase | null;
  phaseDetail: PhaseDetail | null;
  run: Run;
  startedAt: number;
  completedAt: number | null;
  resultRetrievedAt: number | null;
  /** Set when the task left the view; it stays in the history and can be resumed. */
  clearedAt: number | null;
  /** An intent for whoever drives the task; null once the task has ended. */
  cancelRequestedAt: number | null;
  /** The instance that drives it while it lives. */
  owner: string | null;
  progress: Progress;
}

export function isLive(status: Status): boolean {
  return status === "running" || status === "resumed";
}

/** How long the newest run took, or has taken so far. */
export function runDuration(task: Pick<Task, "run">, now: number): number {
  return Math.max(0, (task.run.endedAt ?? now) - task.run.startedAt);
}
