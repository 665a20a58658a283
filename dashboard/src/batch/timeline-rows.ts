/**
 * The rows of the timeline: one per task, ordered by start, with a bar for each run. Pure.
 */
import type { TimelineRun, TimelineSpan } from "../../../src/protocol/spans.ts";
import type { TaskGroup } from "../../../src/protocol/statistics.ts";
import type { BackgroundTask, BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";

export interface RunBar {
  number: number;
  from: number;
  /** Null while the run is live. */
  to: number | null;
  status: BackgroundTaskStatus;
  error: string | null;
  /** Null if nothing was recorded. */
  spans: readonly TimelineSpan[] | null;
}

export interface TimelineRow {
  task: BackgroundTask;
  bars: RunBar[];
}

export function timelineRows(group: TaskGroup, recorded: readonly TimelineRun[] = []): TimelineRow[] {
  const spansOf = new Map(recorded.map(({ taskId, run, spans }) => [`${taskId} ${run}`, spans]));
  const barsOfTask = new Map<string, RunBar[]>();
  const taskOfId = new Map(group.tasks.map((task) => [task.id, task]));
  for (const run of group.runs) {
    const task = taskOfId.get(run.taskId);
    if (!task || hasNotStarted(task)) continue;
    const bars = barsOfTask.get(run.taskId) ?? [];
    bars.push({
      number: run.number,
      from: Date.parse(run.startedAt),
      to: run.endedAt === null ? endOf(task, run.number) : Date.parse(run.endedAt),
      status: run.outcome ?? task.status,
      error: run.error,
      spans: spansOf.get(`${run.taskId} ${run.number}`) ?? null,
    });
    barsOfTask.set(run.taskId, bars);
  }
  return group.tasks
    .map((task) => ({ task, bars: barsOfTask.get(task.id) ?? [] }))
    .sort((one, other) => one.task.startedAt.localeCompare(other.task.startedAt));
}

/** It waits for others, or ended before it could start. */
function hasNotStarted({ after, sessionID }: BackgroundTask): boolean {
  return after !== null && sessionID === "";
}

/** The stream reports a task's end before the runs have been refetched. */
function endOf(task: BackgroundTask, runNumber: number): number | null {
  const { number, endedAt } = task.run;
  return number === runNumber && endedAt !== null ? Date.parse(endedAt) : null;
}
