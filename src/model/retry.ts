/**
 * Events that mean something else for a task of the queue. An interrupted run starts again instead of ending: only if
 * its launch asked for that, since the prompt may have had effects. What waits for a runner is cancelled at once:
 * nobody drives it who could. Pure.
 */
import type { TaskEvent } from "./events.ts";
import { CANCELLED, isInterruption } from "./evidence.ts";
import { awaitsRunner, type Task } from "./task.ts";

/** What happens instead of this event to a task of the queue with that many retries left; null if nothing else does. */
export function retryInstead(task: Task, event: TaskEvent, retriesLeft: number): TaskEvent | null {
  if (event.type !== "run.failed" || !isInterruption(event.error)) return null;
  if (retriesLeft <= 0 || task.run.number !== 0 || task.cancelRequestedAt !== null) return null;
  const { at, run, error: reason, progress } = event;
  return { type: "run.requeued", at, run, reason, progress: progress ?? task.progress };
}

/** What happens instead of this event to a task that waits for a runner; null if nothing else does. */
export function cancelInstead(task: Task, event: TaskEvent): TaskEvent | null {
  if (event.type !== "cancel.requested" || !awaitsRunner(task)) return null;
  const { at, run = task.run.number } = event;
  return { type: "run.cancelled", at, run, reason: CANCELLED, progress: null };
}
