/**
 * Checks that the demo went as expected: compares the expectation with the tasks in the store and with the messages
 * the parent really received. Pure: reads and prints nothing. It does not rely on the store's record of notices.
 */
import { isLive, type Run, type Status, type Task } from "../../src/model/task.ts";

export interface SeenTask {
  task: Task;
  /** All its runs, in any order. */
  runs: Run[];
}

/** A message that the parent received and that nobody typed. */
export interface SeenNotice {
  visible: string;
  hidden: string;
}

export interface Seen {
  tasks: SeenTask[];
  notices: SeenNotice[];
}

export type Expected =
  | { kind: "exactly"; tasks: { description: string; status: Status; resumes: number }[] }
  /** The user's own model decides for itself what happens; only what must hold for any model is expected. */
  | { kind: "any model"; least: number };

/** The problems, each with what was expected and what was seen; empty if there are none. */
export function problemsOf(seen: Seen, expected: Expected): string[] {
  const asAsked =
    expected.kind === "exactly" ? unlike(seen.tasks, expected.tasks) : wanting(seen.tasks, expected.least);
  return [...asAsked, ...seen.tasks.flatMap((each) => untold(each, seen.notices)), ...surplus(seen)];
}

function unlike(tasks: SeenTask[], expected: { description: string; status: Status; resumes: number }[]): string[] {
  const problems: string[] = [];
  if (tasks.length !== expected.length) {
    problems.push(`expected ${expected.length} tasks, saw ${tasks.length}: ${names(tasks)}`);
  }
  for (const { description, status, resumes } of expected) {
    const found = tasks.find(({ task }) => task.description === description)?.task;
    if (!found) {
      problems.push(`expected a task "${description}", saw only: ${names(tasks)}`);
      continue;
    }
    if (found.status !== status) {
      const why = found.run.error === null ? "" : ` (${found.run.error})`;
      problems.push(`expected "${description}" to be ${status}, saw ${found.status}${why}`);
    }
    if (found.run.number !== resumes) {
      problems.push(`expected "${description}" to have been resumed ${resumes} times, saw ${found.run.number}`);
    }
  }
  return problems;
}

function wanting(tasks: SeenTask[], least: number): string[] {
  const problems: string[] = [];
  if (tasks.length < least) {
    problems.push(
      `expected at least ${least} tasks, saw ${tasks.length}: the model did not launch what it was asked to`,
    );
  }
  if (!tasks.some(({ task }) => task.run.number > 0)) {
    problems.push("expected a resumed task, saw none: the model did not resume the one it was asked to");
  }
  for (const { task } of tasks) {
    if (isLive(task.status)) problems.push(`expected "${task.description}" to have ended, saw ${task.status}`);
  }
  return problems;
}

function names(tasks: SeenTask[]): string {
  return tasks.map(({ task }) => `"${task.description}" (${task.status})`).join(", ") || "none";
}

type Outcome = NonNullable<Run["outcome"]>;

/** How the hidden part of a notice starts for a run. */
const marks: Record<Outcome, (id: string) => string[]> = {
  completed: (id) => [`--- result of task ${id},`, `Task ${id} completed without a text`],
  error: (id) => [`--- error of task ${id},`],
  cancelled: (id) => [`Task ${id} was cancelled`],
};

/** Runs that were not announced exactly once. */
function untold({ task, runs }: SeenTask, notices: SeenNotice[]): string[] {
  const lines = notices.flatMap(({ hidden }) => hidden.split("\n"));
  return (Object.keys(marks) as Outcome[]).flatMap((outcome) => {
    const ended = runs.filter((run) => run.outcome === outcome).length;
    const told = lines.filter((line) => marks[outcome](task.id).some((mark) => line.startsWith(mark))).length;
    if (ended === told) return [];
    return [`expected ${ended} notices about "${task.description}" (${outcome} runs), saw ${told}`];
  });
}

/** More or fewer headlines than ended runs. */
function surplus({ tasks, notices }: Seen): string[] {
  const ended = endedRuns(tasks);
  const headlines = notices.flatMap(({ visible }) => visible.split("\n")).filter((line) => /^[✓✗⊘] \*\*/.test(line));
  if (headlines.length === ended) return [];
  return [`expected ${ended} headlines in the parent's messages, saw ${headlines.length}: ${headlines.join(" | ")}`];
}

export function endedRuns(tasks: SeenTask[]): number {
  return tasks.flatMap(({ runs }) => runs).filter((run) => run.outcome !== null).length;
}
