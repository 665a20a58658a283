/**
 * Reads single tasks and runs by id. Every read is bounded; `list.ts` has pages of tasks.
 */
import { type Kysely, sql } from "kysely";
import type { Run, Task } from "../../model/task.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { among } from "../sql/among.ts";
import { lock, lockAll } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { RUN_COLUMNS, type RunRow, runOf, type TaskRow, taskOf, taskRowColumns, withNewestRun } from "./rows.ts";

export async function readTask(kysely: Kysely<Schema>, id: string): Promise<Task | null> {
  const [row] = await selectTask(kysely, { id });
  return row === undefined ? null : taskOf(row);
}

/** For a write that decides on it: nobody else changes or creates it until the transaction is over. */
export async function lockTask(kysely: Kysely<Schema>, id: string): Promise<Task | null> {
  const [, task] = await together([lock(kysely, "task", id), readTask(kysely, id)]);
  return task;
}

const selectTask = preparedQuery<{ id: string }, TaskRow>((kysely, { id }) =>
  withNewestRun(kysely.selectFrom("tasks")).select(taskRowColumns(null)).where("tasks.id", "=", id),
);

/** Most tasks have the id of their session; those that had to wait for one do not. */
export async function readTaskOfSession(kysely: Kysely<Schema>, sessionId: string): Promise<Task | null> {
  if (sessionId === "") return null;
  const [row] = await selectTaskOfSession(kysely, { sessionId });
  return row === undefined ? readTask(kysely, sessionId) : taskOf(row);
}

/** The condition of the index, literally: that lets SQLite choose it. */
const selectTaskOfSession = preparedQuery<{ sessionId: string }, TaskRow>((kysely, { sessionId }) =>
  withNewestRun(kysely.selectFrom("tasks"))
    .select(taskRowColumns(null))
    .where("tasks.session_id", "=", sessionId)
    .where(sql<boolean>`tasks.session_id <> tasks.id`),
);

/** For a write that decides on them. */
export async function lockTasks(kysely: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  if (ids.length === 0) return [];
  await lockAll(kysely, "task", ids);
  return readTasksById(kysely, ids);
}

/** Those that exist, in any order. */
export async function readTasksById(kysely: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  const found = withNewestRun(kysely.selectFrom("tasks"))
    .select(taskRowColumns(null))
    .where(among(kysely, "tasks.id", ids));
  return ((await found.execute()) as TaskRow[]).map(taskOf);
}

export async function readRuns(kysely: Kysely<Schema>, taskId: string, limit?: number): Promise<Run[]> {
  const rows = await selectRuns(kysely, { taskId, limit: clamp(limit, 20, 200) });
  return rows.map(runOf);
}

const selectRuns = preparedQuery<{ taskId: string; limit: number }, RunRow>((kysely, { taskId, limit }) =>
  kysely.selectFrom("runs").select(RUN_COLUMNS).where("task_id", "=", taskId).orderBy("number", "desc").limit(limit),
);

export async function readRun(kysely: Kysely<Schema>, taskId: string, number: number): Promise<Run | null> {
  const row = await kysely
    .selectFrom("runs")
    .select(RUN_COLUMNS)
    .where("task_id", "=", taskId)
    .where("number", "=", number)
    .executeTakeFirst();
  return row === undefined ? null : runOf(row);
}
