/**
 * How long the history is kept: removes ended tasks that are older than a limit, or beyond a number, in short
 * transactions with pauses, so that others can write meanwhile. May be stopped or killed at any time: the next call
 * goes on. The store decides which tasks must stay, whatever their age.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { isLive, type Task } from "../model/task.ts";
import type { Clock } from "../process/clock.ts";
import { pause } from "../process/deadline.ts";
import type { PruneObstacle, PrunePosition, PruneStep, Store } from "../store/store.ts";

/** The pause after a transaction is this many times its duration: pruning takes at most a third of the store's time. */
const PAUSE_PER_DURATION = 2;
const SHORTEST_PAUSE_MS = 2;

export interface RetentionLimits {
  /** Tasks that ended longer ago may go. */
  olderThanMs?: number | undefined;
  /** This many of the newest tasks stay, and those that were still live when the oldest of them started. */
  keep?: number | undefined;
}

export interface PruneReport {
  /** Tasks that ended before this time could go; null if there are too few tasks for the limit. */
  endedBefore: number | null;
  /** The number of rows by table. */
  removed: Record<string, number>;
  /** The number of tasks that had to stay, by reason. */
  kept: Partial<Record<PruneObstacle, number>>;
  /** False if it was stopped early. */
  isComplete: boolean;
}

interface RetentionContext extends Clock {
  store: Store;
  signal?: AbortSignal | undefined;
  /** Called after each transaction. */
  onProgress?(report: PruneReport): void;
}

export async function pruneTasks(
  context: RetentionContext,
  { olderThanMs, keep, dryRun = false }: RetentionLimits & { dryRun?: boolean },
): Promise<PruneReport> {
  const { store, signal } = context;
  const endedBefore = await cutoff(context, { olderThanMs, keep });
  const report: PruneReport = { endedBefore, removed: { tasks: 0 }, kept: {}, isComplete: true };
  if (endedBefore === null) return report;
  for (let after: PrunePosition | null = null; ; ) {
    const began = context.monotonic();
    const step = await store.prune({ endedBefore, after, dryRun });
    addCounts(report.removed, step.removed);
    addCounts(report.kept, step.kept);
    after = step.next;
    if (after === null) return report;
    context.onProgress?.(report);
    const ms = Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_DURATION * (context.monotonic() - began));
    await pause(ms, { clock: context, signal });
    if (signal?.aborted) return { ...report, isComplete: false };
  }
}

/** Why a task that somebody wants to remove must stay, and what to do about it. */
const OBSTACLES: Readonly<Record<PruneObstacle, string>> = {
  notice: "its parent has not been told yet that it ended. Open the parent's session, or wait until it is told",
  follow_up: "a follow-up is queued for it. Cancel that first",
  attempt:
    "it belongs to an attempt whose work item has worktrees or unmerged work. Merge or remove the attempts first",
  parent: "a task that it launched is still running, or not reported to it yet. Wait for that one, or cancel it",
  batch: "another task of its batch is still running. Wait for that one, or cancel it",
  after: "a task that has not started waits for it. Wait for that one, or cancel it",
  newest: "it was changed a moment ago. Try again",
};

/** Removes one ended task for good, with everything that is stored about it. Its session stays in the host. */
export async function removeTask(store: Store, task: Task): Promise<PruneStep["removed"]> {
  if (isLive(task.status)) throw stillLive(task);
  // As old as its own end: a parent that was seen since stays known.
  const endedBefore = (task.completedAt ?? task.startedAt) + 1;
  const { removed, kept } = await store.prune({ endedBefore, after: null, ids: [task.id], dryRun: false });
  if (removed.tasks === 1) return removed;
  const [reason] = Object.keys(kept) as PruneObstacle[];
  const now = await store.task(task.id);
  if (now !== null && isLive(now.status)) throw stillLive(now);
  const why = OBSTACLES[reason ?? "newest"];
  throw new AsyncAgentsError("task_needed", `Task ${task.id} was not removed: ${why}.`, {
    details: { reason: reason ?? "newest" },
  });
}

function stillLive({ id }: Task): AsyncAgentsError {
  const message = `Task ${id} is still running, so it was not removed. Cancel it or wait until it has ended, then try again.`;
  return new AsyncAgentsError("task_running", message);
}

/** Exceeding either limit is enough. */
async function cutoff(
  { store, now }: RetentionContext,
  { olderThanMs, keep }: RetentionLimits,
): Promise<number | null> {
  if (olderThanMs === undefined && keep === undefined) {
    throw new AsyncAgentsError("invalid_input", "Nothing says what may be removed. Give a limit of age or of number.");
  }
  const byAge = olderThanMs === undefined ? null : now() - olderThanMs;
  const byNumber = keep === undefined ? null : await store.startOfNewest(keep);
  if (byAge === null || byNumber === null) return byAge ?? byNumber;
  return Math.max(byAge, byNumber);
}

function addCounts(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
