/**
 * Converts between a task and its rows: one in `tasks`, one in `runs` for its newest run. Lossless in both directions.
 * Reads select these columns by name, so that additional columns of a newer store do no harm.
 */
import { type Insertable, type SelectQueryBuilder, sql, type Updateable } from "kysely";
import { isLive, type Run, type Task } from "../../model/task.ts";
import type { RowOf, Schema } from "../schema.ts";
import { searchText } from "./search.ts";

/** Characters of a description that decide its place; must equal that of migration 26. */
const SORTED_CHARS = 60;

export const RUN_COLUMNS = [
  "number",
  "prompt",
  "message_id",
  "started_at",
  "ended_at",
  "outcome",
  "result",
  "error",
  "before",
  "pauses",
] as const;

export type RunRow = Pick<RowOf<"runs">, (typeof RUN_COLUMNS)[number]>;

const HEAD = [
  "id",
  "session_id",
  "host",
  "directory",
  "parent_session_id",
  "parent_message_id",
  "parent_agent",
  "description",
  "agent",
  "model",
  "batch_id",
  "is_forked",
  "status",
  "started_at",
  "completed_at",
  "progress",
  "machine",
] as const;

export const HEAD_COLUMNS = HEAD.map((column) => `tasks.${column}` as const);

const TASK_COLUMNS = [
  ...HEAD_COLUMNS,
  "tasks.phase",
  "tasks.phase_detail",
  "tasks.result_retrieved_at",
  "tasks.cleared_at",
  "tasks.cancel_requested_at",
  "tasks.owner",
  "tasks.fence",
  "tasks.wake",
  "tasks.clone",
  "tasks.after_tasks",
  "runs.number",
  "runs.message_id",
  "runs.started_at as run_started_at",
  "runs.ended_at",
  "runs.outcome",
  "runs.before",
  "runs.pauses",
] as const;

export interface TaskRow
  extends Omit<RowOf<"tasks">, "description_search" | "sort_name" | "live" | "run" | "created_seq" | "took" | "cost">,
    Omit<RunRow, "started_at"> {
  run_started_at: number;
}

/** Joins the newest run of each task. */
export function withNewestRun(tasks: SelectQueryBuilder<Schema, "tasks", object>) {
  return tasks.innerJoin("runs", (join) =>
    join.onRef("runs.task_id", "=", "tasks.id").onRef("runs.number", "=", "tasks.run"),
  );
}

/**
 * All columns of a task and its newest run; the texts of the run are shortened to that many characters, unless null.
 */
export function taskRowColumns(characters: number | null) {
  const text = <Value>(column: "prompt" | "result" | "error") => {
    const whole = sql.ref<Value>(`runs.${column}`);
    return (characters === null ? whole : sql<Value>`substr(${whole}, 1, ${characters})`).as(column);
  };
  return [
    ...TASK_COLUMNS,
    text<string>("prompt"),
    text<string | null>("result"),
    text<string | null>("error"),
  ] as const;
}

/** The fields that do not depend on the run. */
export function taskHeadOf(row: Pick<TaskRow, (typeof HEAD)[number]>) {
  return {
    id: row.id,
    sessionId: row.session_id,
    host: row.host,
    directory: row.directory,
    parentSessionId: row.parent_session_id,
    parentMessageId: row.parent_message_id,
    parentAgent: row.parent_agent,
    description: row.description,
    agent: row.agent,
    model: row.model,
    batchId: row.batch_id,
    isForked: row.is_forked === 1,
    status: row.status as Task["status"],
    startedAt: row.started_at,
    completedAt: row.completed_at,
    progress: JSON.parse(row.progress) as Task["progress"],
    machine: row.machine,
  };
}

export function taskOf(row: TaskRow): Task {
  return {
    ...taskHeadOf(row),
    phase: row.phase as Task["phase"],
    phaseDetail: row.phase_detail === null ? null : JSON.parse(row.phase_detail),
    run: {
      number: row.number,
      prompt: row.prompt,
      messageId: row.message_id,
      startedAt: row.run_started_at,
      endedAt: row.ended_at,
      outcome: row.outcome as Run["outcome"],
      result: row.result,
      error: row.error,
      before: JSON.parse(row.before),
      pauses: pausesOf(row),
    },
    resultRetrievedAt: row.result_retrieved_at,
    clearedAt: row.cleared_at,
    cancelRequestedAt: row.cancel_requested_at,
    owner: row.owner,
    fence: row.fence,
    wake: row.wake as Task["wake"],
    clone: row.clone === null ? null : JSON.parse(row.clone),
    after: row.after_tasks === null ? null : JSON.parse(row.after_tasks),
  };
}

export function runOf(row: RunRow): Run {
  return {
    number: row.number,
    prompt: row.prompt,
    messageId: row.message_id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome as Run["outcome"],
    result: row.result,
    error: row.error,
    before: JSON.parse(row.before),
    pauses: pausesOf(row),
  };
}

function pausesOf({ pauses }: Pick<RunRow, "pauses">): Run["pauses"] {
  return pauses === null ? null : JSON.parse(pauses);
}

/** The columns that can change after a task was created. */
export function changingColumns(task: Task) {
  return {
    agent: task.agent,
    description_search: searchText(task),
    status: task.status,
    live: isLive(task.status) ? 1 : 0,
    phase: task.phase,
    phase_detail: task.phaseDetail === null ? null : JSON.stringify(task.phaseDetail),
    run: task.run.number,
    completed_at: task.completedAt,
    result_retrieved_at: task.resultRetrievedAt,
    cleared_at: task.clearedAt,
    cancel_requested_at: task.cancelRequestedAt,
    owner: task.owner,
    fence: task.fence,
    progress: JSON.stringify(task.progress),
    ...sortedColumns(task),
  } satisfies Updateable<Schema["tasks"]>;
}

/** Written when a run ends: while it goes on, nothing may change that an index of all tasks has. */
function sortedColumns({ status, run, progress }: Task) {
  if (isLive(status) || run.endedAt === null) return { took: 0, cost: 0 };
  // Whatever a host counted, the end must be stored; JSON has null for what is no number.
  const cost = Number.isFinite(progress.cost) ? progress.cost : 0;
  return { took: Math.max(0, run.endedAt - run.startedAt), cost };
}

/** The columns that only change while a task is in the queue. */
export function placeColumns(task: Task) {
  return {
    session_id: task.sessionId,
    directory: task.directory,
    model: task.model,
    machine: task.machine,
    clone: task.clone === null ? null : JSON.stringify(task.clone),
    after_tasks: task.after === null ? null : JSON.stringify(task.after),
  };
}

export function taskRow(task: Task, createdSeq: number): Insertable<Schema["tasks"]> {
  return {
    id: task.id,
    host: task.host,
    parent_session_id: task.parentSessionId,
    parent_message_id: task.parentMessageId,
    parent_agent: task.parentAgent,
    description: task.description,
    sort_name: sortName(task.description),
    batch_id: task.batchId,
    is_forked: task.isForked ? 1 : 0,
    wake: task.wake,
    started_at: task.startedAt,
    created_seq: createdSeq,
    ...placeColumns(task),
    ...changingColumns(task),
  };
}

export function runRow(taskId: string, run: Run): Insertable<Schema["runs"]> {
  return {
    task_id: taskId,
    number: run.number,
    prompt: run.prompt,
    message_id: run.messageId,
    started_at: run.startedAt,
    ended_at: run.endedAt,
    outcome: run.outcome,
    result: run.result,
    error: run.error,
    before: JSON.stringify(run.before),
    pauses: run.pauses === null ? null : JSON.stringify(run.pauses),
  };
}

/** Cut by characters, as the databases do. */
function sortName(description: string): string {
  const start = Array.from(description.slice(0, 4 * SORTED_CHARS));
  return start.slice(0, SORTED_CHARS).join("").toLowerCase();
}
