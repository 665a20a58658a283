/**
 * What a runner tells whoever watches it about its tasks: each that it works on, and how that ended. Reads it from the
 * feed, as others do; changes nothing.
 */
import type { Runner } from "../engine/runner.ts";
import type { TaskEvent } from "../model/events.ts";

const ENDS: Partial<Record<TaskEvent["type"], string>> = {
  "run.completed": "Completed",
  "run.failed": "Failed",
  "run.cancelled": "Cancelled",
  "run.requeued": "Interrupted, and queued again:",
};

/** Until the runner stops. */
export function reportTasks(runner: Pick<Runner, "engines" | "onEntries">, say: (line: string) => void): void {
  const atWork = new Set<string>();
  const isOwn = (owner: string | null) => runner.engines().some(({ instance }) => instance.id === owner);
  runner.onEntries((entries) => {
    for (const { taskId, event } of entries) {
      if ("owner" in event && isOwn(event.owner)) {
        atWork.add(taskId);
        say(`Works on ${taskId}${"directory" in event ? `, in ${event.directory}` : ""}.`);
      }
      const end = ENDS[event.type];
      if (end !== undefined && atWork.delete(taskId)) say(`${end} ${taskId}.`);
    }
  });
}
