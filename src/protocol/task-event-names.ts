/** The names of task events in the event stream. Without zod, because the client needs them at run time. */
export const TASK_EVENT_NAMES = [
  "task.created",
  "task.updated",
  "task.completed",
  "task.error",
  "task.cancelled",
] as const;
export type TaskEventName = (typeof TASK_EVENT_NAMES)[number];
