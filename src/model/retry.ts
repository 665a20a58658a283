/**
 * When an interrupted run starts again instead of ending: only if its launch asked for that, since the prompt may have
 * had effects. Pure.
 */
import type { TaskEvent } from "./events.ts";
import { isInterruption } from "./evidence.ts";
import type { Task } from "./task.ts";

/** What happens instead of this event to a task of the queue with that many retries left; null if nothing else does. */
export function retryInstead(task: Task, event: TaskEvent, retriesLeft: number): TaskEvent | null {
  if (event.type !== "run.failed" || !isInterruption(event.error)) return null;
  if (retriesLeft <= 0 || task.run.number !== 0 || task.cancelRequestedAt !== null) return null;
  const { at, run, error: reason, progress } = event;
  return { type: "run.requeued", at, run, reason, progress: progress ?? task.progress };
}
