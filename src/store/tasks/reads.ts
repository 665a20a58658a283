/**
 * Reads single tasks and runs by id. Every read is bounded; `list.ts` has pages of tasks.
 */
import type { Kysely } from "kysely";
import type { Run, Task } from "../../model/task.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
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

/** Those that exist, in any order. */
export async function readTasksById(kysely: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  const found = withNewestRun(kysely.selectFrom("tasks")).select(taskRowColumns(null)).where("tasks.id", "in", ids);
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
