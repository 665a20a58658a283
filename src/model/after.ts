/**
 * Tasks that start after others: what a task waits for, when it may start, and how the results of the others get into
 * its prompt. Pure. The store asks for a verdict whenever a predecessor ends or is resumed.
 */
import { isLive, type Run, type Status, type Task } from "./task.ts";
import { framed, type NewMark } from "./text/foreign-text.ts";

export const IF_FAILED = ["skip", "run_anyway", "wait"] as const;
/**
 * What happens when a predecessor ends without completing: the task is not run, it runs all the same, or it waits until
 * the predecessor completes after all, or a person changes or cancels it.
 */
export type IfFailed = (typeof IF_FAILED)[number];

/** What a task waits for before it starts. */
export interface After {
  /** The ids of its predecessors. */
  tasks: readonly string[];
  ifFailed: IfFailed;
}

export const MOST_PREDECESSORS = 100;

/** The most characters of one result, and of all of them, in a prompt. */
const RESULT_CHARS = 16_000;
const ALL_RESULTS_CHARS = 100_000;
const SHORTEST_NAME = 4;

type Predecessor = Pick<Task, "id" | "status">;

/** `by`: the predecessor that did not complete. */
export type Verdict = { kind: "start" | "later" } | { kind: "blocked" | "skip"; by: string; status: Status | null };

/** Whether a task may start now. A predecessor that does not exist any more has not completed. */
export function judgeAfter({ tasks, ifFailed }: After, known: readonly Predecessor[]): Verdict {
  const statuses = new Map(known.map(({ id, status }) => [id, status]));
  const failed = tasks.find((id) => {
    const status = statuses.get(id);
    return status === undefined || !(isLive(status) || status === "completed");
  });
  if (failed !== undefined && ifFailed !== "run_anyway") {
    return { kind: ifFailed === "skip" ? "skip" : "blocked", by: failed, status: statuses.get(failed) ?? null };
  }
  return { kind: known.some(({ status }) => isLive(status)) ? "later" : "start" };
}

const NOT_RUN = "Not run: ";

/** The reason of a task that is not run because of a predecessor. */
export function skipReason(by: string, status: Status | null): string {
  return `${NOT_RUN}it was to start after task ${by}, which ${endText(status)}.`;
}

export function endText(status: Status | null): string {
  if (status === null) return "does not exist any more";
  return status === "error" ? "failed" : `was ${status}`;
}

/** Whether the task ended without being run, because of a predecessor. */
export function isSkipped({ after, sessionId, run }: Pick<Task, "after" | "sessionId" | "run">): boolean {
  return after !== null && sessionId === "" && run.error?.startsWith(NOT_RUN) === true;
}

const PLACEHOLDER = /\{\{result:\s*([^\s{}]{1,200})\s*\}\}/g;

/** The ids, or parts of ids, whose results a prompt asks for. */
export function resultsIn(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(PLACEHOLDER)].map(([, id = ""]) => id))];
}

/** The predecessor that a placeholder names by its id, or by a part of it as lists show it; null if there is none. */
export function namedPredecessor(name: string, tasks: readonly string[]): string | null {
  if (tasks.includes(name)) return name;
  if (name.length < SHORTEST_NAME) return null;
  const [only, ...others] = tasks.filter((id) => id.includes(name));
  return only !== undefined && others.length === 0 ? only : null;
}

/** What a predecessor ended with: its newest completed run, or else its newest one. */
export type PredecessorEnd = Pick<Run, "outcome" | "result" | "error">;

/**
 * The prompt with the results in the place of their placeholders, quoted and cut. What a result contains is never
 * replaced in turn. A placeholder of something else stays.
 */
export function withResults(
  prompt: string,
  { tasks }: After,
  ends: ReadonlyMap<string, PredecessorEnd>,
  newMark: NewMark,
): string {
  const count = [...prompt.matchAll(PLACEHOLDER)].length;
  const most = Math.min(RESULT_CHARS, Math.floor(ALL_RESULTS_CHARS / Math.max(1, count)));
  return prompt.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    const id = namedPredecessor(name, tasks);
    return id === null ? placeholder : quoted(id, ends.get(id) ?? null, most, newMark);
  });
}

function quoted(id: string, end: PredecessorEnd | null, most: number, newMark: NewMark): string {
  if (end === null) return `(Task ${id} has no result: it does not exist any more.)`;
  const isCompleted = end.outcome === "completed";
  const text = (isCompleted ? end.result : end.error) ?? "";
  if (text === "") return `(Task ${id} ${isCompleted ? "completed without a text" : "has no result"}.)`;
  const title = isCompleted ? `result of task ${id}` : `task ${id} did not complete; its error`;
  if (text.length <= most) return framed(title, text, newMark);
  const cut = text.slice(0, most);
  const shown = cut.isWellFormed() ? cut : cut.slice(0, -1);
  return `${framed(title, shown, newMark)}\n(Cut: the first ${shown.length} of ${text.length} characters.)`;
}
