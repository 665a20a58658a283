/**
 * What the events of a task say about its course: when its newest run began to work, and how what it asked was
 * answered. Pure: the store reads the events.
 */
import type { GivenAnswer } from "./answer.ts";
import type { TaskEvent, TaskEventType } from "./events.ts";
import type { Task } from "./task.ts";

export interface PastAnswer extends GivenAnswer {
  requestId: string;
  run: number;
  at: number;
}

export interface TaskCourse {
  /** Null while it waits to start. */
  beganAt: number | null;
  /** Oldest first. */
  answers: PastAnswer[];
}

/** The events that are needed. */
export const COURSE_TYPES: readonly TaskEventType[] = ["run.phased", "task.claimed"];

const MOST_ANSWERS = 50;

/** `events`: newest first. */
export function courseOf(task: Pick<Task, "sessionId" | "run">, events: readonly TaskEvent[]): TaskCourse {
  const answers = events.flatMap(answerIn).slice(0, MOST_ANSWERS).reverse();
  return { beganAt: beganAtOf(task, events), answers };
}

/** A run that had to wait begins when it gets its session, or with the phase that follows its place in the queue. */
function beganAtOf({ sessionId, run }: Pick<Task, "sessionId" | "run">, events: readonly TaskEvent[]): number | null {
  const newest = events.find((event) => "run" in event && event.run === run.number && placeIn(event) !== null);
  if (sessionId === "" || (newest !== undefined && placeIn(newest) === "waits")) return null;
  return newest?.at ?? run.startedAt;
}

function placeIn(event: TaskEvent): "waits" | "begins" | null {
  if (event.type === "task.claimed") return "begins";
  if (event.type !== "run.phased") return null;
  return event.phase === "queued" ? "waits" : event.phase === "starting" ? "begins" : null;
}

function answerIn(event: TaskEvent): PastAnswer[] {
  if (event.type !== "run.phased" || event.detail?.kind !== "answered") return [];
  const { kind: _kind, appliedAt: _appliedAt, ...answer } = event.detail;
  return [{ ...answer, run: event.run }];
}
