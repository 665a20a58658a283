/**
 * What the list keeps of a task: everything except its long texts, so that thousands of rows stay small. Also decides
 * whether a task passes the filters, like the server does.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import type { Filters } from "../routing/filters.ts";

const ERROR_LENGTH = 300;

export type TaskRowData = Omit<BackgroundTask, "prompt" | "result" | "shortened">;

export function rowDataOf({ prompt, result, shortened, ...task }: BackgroundTask): TaskRowData {
  return { ...task, error: task.error?.slice(0, ERROR_LENGTH) ?? null };
}

export function passes({ statuses, agent, search }: Filters, task: TaskRowData | BackgroundTask): boolean {
  if (statuses.length > 0 && !statuses.includes(task.status)) return false;
  if (agent !== "" && task.agent !== agent) return false;
  return task.description.toLowerCase().includes(search.toLowerCase());
}
