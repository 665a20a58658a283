/**
 * What a runner tells whoever watches it about its tasks: each that it works on, and how that ended. Reads it from the
 * feed, as others do; changes nothing.
 */
import type { TaskEvent } from "../model/events.ts";
import type { FeedEntry } from "../store/store.ts";

interface ReportContext {
  /** Whether this is one of the runner's own instances. */
  isOwn(instance: string | null): boolean;
  say(line: string): void;
}

const ENDS: Partial<Record<TaskEvent["type"], string>> = {
  "run.completed": "Completed",
  "run.failed": "Failed",
  "run.cancelled": "Cancelled",
  "run.requeued": "Interrupted, and queued again:",
};

export function runnerReport({ isOwn, say }: ReportContext): (entries: readonly FeedEntry[]) => void {
  const atWork = new Set<string>();
  return (entries) => {
    for (const { taskId, event } of entries) {
      if ("owner" in event && isOwn(event.owner)) {
        atWork.add(taskId);
        say(`Works on ${taskId}${"directory" in event ? `, in ${event.directory}` : ""}.`);
      }
      const end = ENDS[event.type];
      if (end !== undefined && atWork.delete(taskId)) say(`${end} ${taskId}.`);
    }
  };
}
