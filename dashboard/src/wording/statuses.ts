/**
 * The five statuses and which of them are live, for the page. The server's schema is the source; the type check fails
 * if this list and the schema differ.
 */
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";

const LIVE: Record<BackgroundTaskStatus, boolean> = {
  running: true,
  resumed: true,
  completed: false,
  error: false,
  cancelled: false,
};

export const TASK_STATUSES = Object.keys(LIVE) as BackgroundTaskStatus[];

export function isTaskStatus(word: string): word is BackgroundTaskStatus {
  return Object.hasOwn(LIVE, word);
}

export function isLive(task: { status: BackgroundTaskStatus }): boolean {
  return LIVE[task.status];
}
