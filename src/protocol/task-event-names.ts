/** What can happen to a task, as the event stream names it. Without zod, since the client runs on it. */
export const TASK_EVENT_NAMES = [
  "task.created",
  "task.updated",
  "task.completed",
  "task.error",
  "task.cancelled",
] as const;
export type TaskEventName = (typeof TASK_EVENT_NAMES)[number];
