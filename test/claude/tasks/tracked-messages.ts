/** A task manager that has read these messages, without a session. */
import { TaskManager, type TaskManagerOptions } from "../../../src/claude/tasks/task-manager.ts";
import type { Sample } from "../messages/sample-messages.ts";

export function fed(messages: readonly Sample[], options: TaskManagerOptions = {}): TaskManager {
  const manager = new TaskManager(options);
  for (const message of messages) manager.track(message);
  return manager;
}

/** The outcome of each run, in order of their ends. */
export function ends(messages: readonly Sample[]): string[] {
  const told: string[] = [];
  fed(messages, { onTaskNotification: ({ taskId, status }) => told.push(`${taskId} ${status}`) });
  return told;
}
