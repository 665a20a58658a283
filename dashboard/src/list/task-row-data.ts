/**
 * What the list keeps of a task: everything except its long texts, so that thousands of rows stay small. Also decides
 * whether a task passes the filters, like the server does.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { boundsOf, type Filters } from "../routing/filters.ts";

const ERROR_LENGTH = 300;

export type TaskRowData = Omit<BackgroundTask, "prompt" | "result" | "shortened">;

export function rowDataOf({ prompt, result, shortened, ...task }: BackgroundTask): TaskRowData {
  return { ...task, error: task.error?.slice(0, ERROR_LENGTH) ?? null };
}

export function passes(filters: Filters, task: TaskRowData | BackgroundTask, now: number): boolean {
  const { statuses, agent, host, search } = filters;
  if (statuses.length > 0 && !statuses.includes(task.status)) return false;
  if (agent !== "" && task.agent !== agent) return false;
  if (host !== "" && task.host !== host) return false;
  if (!isBelow(task.directory, filters.directory) || !isWithin(task.startedAt, boundsOf(filters, now))) return false;
  return task.description.toLowerCase().includes(search.toLowerCase());
}

function isBelow(directory: string, folder: string): boolean {
  const bare = folder.replace(/\/+$/, "");
  return bare === "" || directory === bare || directory.startsWith(`${bare}/`);
}

function isWithin(startedAt: string, { from, to }: { from: string; to: string }): boolean {
  const started = Date.parse(startedAt);
  return (from === "" || started >= Date.parse(from)) && (to === "" || started < Date.parse(to));
}
