/**
 * What a summary of a parent's session must not lose: its live tasks, and results that nobody has read. The notices
 * about them go with the history that is summarised. Pure.
 */
import { isLive, type Task } from "../model/task.ts";
import { listLine } from "./task-text.ts";

/** Null if there is nothing to carry over. The tasks are the newest first. */
export function carriedOver(tasks: readonly Task[], prefix: string, now: number): string | null {
  const live = tasks.filter(({ status }) => isLive(status));
  const unread = tasks.filter(({ status, resultRetrievedAt }) => status === "completed" && resultRetrievedAt === null);
  const lines = (title: string, its: readonly Task[]) =>
    its.length === 0 ? [] : [title, ...its.map((task) => listLine(task, now))];
  const parts = [
    ...lines("Background tasks at work; you are told when each of them ends:", live),
    ...lines(`Background tasks with results to read with ${prefix}_output(task_id=…):`, unread),
  ];
  return parts.length === 0 ? null : ["Copy these lines into the summary, with the ids:", ...parts].join("\n");
}
