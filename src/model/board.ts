/**
 * The words of the board: projects, repos, work items, attempts, their sessions and follow-ups; and the rule that moves a
 * work item by itself, and the one that holds a queue. Pure. What a person decided (done, cancelled) only a beginning run undoes.
 */
import { isInterruption } from "./evidence.ts";
import type { Run } from "./task.ts";

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
  /** Its top folder, as git writes it. */
  path: string;
  /** Untracked files that each worktree gets. */
  copy: string[];
  /** A script that is run in each worktree; null for none. */
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
 * `starting`: worktrees and session are being made. `ready`: there is a session, and its task says how it stands. `failed`: it
 * never came to a session. `merged`: its work is in the target branches.
 */
export type AttemptState = "starting" | "ready" | "failed" | "merged";

/** The tasks of an attempt have its id as their batch. */
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
  createdAt: number;
  updatedAt: number;
}

export interface AttemptRepo {
  attemptId: string;
  repoId: string;
  targetBranch: string;
  /** The worktree; null while there is none. */
  path: string | null;
  /** The commit that its merge made on the target branch; null while there is none. */
  mergedCommit: string | null;
}

/** A session of an attempt: an id of the board's own for a task of the engine. */
export interface BoardSession {
  id: string;
  attemptId: string;
  taskId: string;
  host: string;
  createdAt: number;
}

/** A prompt that waits for its session to be idle. */
export interface FollowUp {
  id: string;
  sessionId: string;
  prompt: string;
  variant: string | null;
  queuedAt: number;
  /** The run that had ended when it was queued; null where one was under way. */
  afterRun: number | null;
  /** Why it could not begin when it was its turn. */
  error: string | null;
}

/** Where a work item stands once a run of one of its attempts began or ended. `live`: whether another one is at work. */
export function statusAfterRun(
  status: WorkItemStatus,
  run: { begins: true } | { begins: false; live: boolean },
): WorkItemStatus {
  if (run.begins) return "inprogress";
  return status === "inprogress" && !run.live ? "inreview" : status;
}

/**
 * Whether queued follow-ups wait although the session is idle: its newest run failed or was cancelled, and nobody has queued
 * anything since. A run that died with its process, or with its agent's program, does not count: nothing was wrong with the work. `afterRun`: the newest run
 * that had ended when one of them was queued.
 */
export function isQueueHeld(run: Pick<Run, "number" | "outcome" | "error">, afterRun: number | null): boolean {
  const isGood = run.outcome === "completed" || isInterruption(run.error);
  return !isGood && afterRun !== run.number;
}
