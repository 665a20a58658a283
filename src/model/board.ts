/**
 * The board's data: projects, repos, work items, attempts, their sessions and follow-ups; plus two rules, when a run
 * moves its work item and when a queue of follow-ups is held. Pure. Only a new run reverts a status that a person set
 * (done, cancelled).
 */
import { isInterruption } from "./evidence.ts";
import type { Run, Task } from "./task.ts";

export type WorkItemStatus = "todo" | "inprogress" | "inreview" | "done" | "cancelled";

export interface Project {
  id: string;
  name: string;
  createdAt: number;
  updatedAt: number;
}

/** A local git repository of a project. */
export interface BoardRepo {
  id: string;
  projectId: string;
  name: string;
  /** Its top-level folder, as reported by git. */
  path: string;
  /** Untracked files to copy into each worktree. */
  copy: string[];
  /** A script to run in each worktree; null for none. */
  setup: string | null;
  createdAt: number;
}

export interface WorkItem {
  id: string;
  projectId: string;
  title: string;
  description: string | null;
  status: WorkItemStatus;
  createdAt: number;
  updatedAt: number;
}

/**
 * `starting`: the worktrees and the session are being created. `ready`: the session exists; see its task for progress.
 * `failed`: no session could be created. `merged`: its work is in the target branches.
 */
export type AttemptState = "starting" | "ready" | "failed" | "merged";

export interface Attempt {
  id: string;
  workItemId: string;
  host: string;
  variant: string | null;
  branch: string;
  state: AttemptState;
  /** Why it failed. */
  error: string | null;
  /** The folder above its worktrees; null once they are gone. */
  folder: string | null;
  /** The machine that has its worktrees; empty if that is unknown. */
  machine: string;
  createdAt: number;
  updatedAt: number;
}

export interface AttemptRepo {
  attemptId: string;
  repoId: string;
  targetBranch: string;
  /** The worktree; null if there is none yet. */
  path: string | null;
  /** The commit that the merge created on the target branch; null if not merged. */
  mergedCommit: string | null;
}

/** A session of an attempt: gives an engine task an id of the board's own. */
export interface BoardSession {
  id: string;
  attemptId: string;
  taskId: string;
  host: string;
  createdAt: number;
}

/** The tasks of an attempt form one batch, and its id is the attempt's id. */
export function batchOfAttempt(attempt: Pick<Attempt, "id">): string {
  return attempt.id;
}

/** The attempt of a task, if the task belongs to one: any other batch id matches no attempt. */
export function attemptIdOf(task: Pick<Task, "batchId">): string {
  return task.batchId;
}

/** A prompt that is queued until its session is idle. */
export interface FollowUp {
  id: string;
  sessionId: string;
  prompt: string;
  variant: string | null;
  queuedAt: number;
  /** The newest run that had ended when this was queued; null if a run was in progress. */
  afterRun: number | null;
  /** Why it could not be sent when its turn came. */
  error: string | null;
}

/**
 * The new status of a work item after a run of one of its attempts began or ended. `live`: another run is still going.
 */
export function statusAfterRun(
  status: WorkItemStatus,
  run: { begins: true } | { begins: false; live: boolean },
): WorkItemStatus {
  if (run.begins) return "inprogress";
  return status === "inprogress" && !run.live ? "inreview" : status;
}

/**
 * Whether queued follow-ups must wait although the session is idle: its newest run failed or was cancelled, and nothing
 * has been queued since. A run that was interrupted because a program died does not count, since its work was fine.
 * `afterRun`: the newest `afterRun` of the queued follow-ups.
 */
export function isQueueHeld(run: Pick<Run, "number" | "outcome" | "error">, afterRun: number | null): boolean {
  const isGood = run.outcome === "completed" || isInterruption(run.error);
  return !isGood && afterRun !== run.number;
}
