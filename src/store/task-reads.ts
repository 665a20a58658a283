/** Reading single tasks and runs by their ids. Every read is bounded; pages of tasks are in `task-list.ts`. */
import type { Kysely } from "kysely";
import type { Run, Task } from "../model/task.ts";
import { bounded } from "./bounds.ts";
import { compiledOnce, given } from "./compiled-query.ts";
import type { Schema } from "./schema.ts";
import { storableText } from "./storable.ts";
import { RUN_COLUMNS, runOf, type TaskRow, taskColumns, taskOf, withNewestRun } from "./task-rows.ts";

const MOST_BY_ID = 500;

export async function readTask(kysely: Kysely<Schema>, id: string): Promise<Task | null> {
  const { rows } = await kysely.executeQuery(taskQuery(kysely, { ids: 1 }, [id]));
  return rows[0] === undefined ? null : taskOf(rows[0]);
}

export async function readTasksById(kysely: Kysely<Schema>, ids: readonly string[]): Promise<Task[]> {
  const wanted = [...new Set(ids.map(storableText))].slice(0, MOST_BY_ID);
  if (wanted.length === 0) return [];
  // In steps, so that a few statements serve every number of ids.
  const { rows } = await kysely.executeQuery(
    taskQuery(kysely, { ids: 2 ** Math.ceil(Math.log2(wanted.length)) }, wanted),
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return wanted.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : [taskOf(row)];
  });
}

/** Places that are left over are filled with the first id again. */
const taskQuery = compiledOnce<{ ids: number }, readonly string[], TaskRow>((kysely, { ids }) => {
  const places = Array.from({ length: ids }, (_, place) =>
    given((wanted: readonly string[]) => wanted[place] ?? wanted[0] ?? ""),
  );
  return withNewestRun(kysely.selectFrom("tasks")).select(taskColumns(null)).where("tasks.id", "in", places);
});

export async function readRuns(kysely: Kysely<Schema>, taskId: string, limit?: number): Promise<Run[]> {
  const rows = await kysely
    .selectFrom("runs")
    .select(RUN_COLUMNS)
    .where("task_id", "=", taskId)
    .orderBy("number", "desc")
    .limit(bounded(limit, 20, 200))
    .execute();
  return rows.map(runOf);
}

export async function readRun(kysely: Kysely<Schema>, taskId: string, number: number): Promise<Run | null> {
  const row = await kysely
    .selectFrom("runs")
    .select(RUN_COLUMNS)
    .where("task_id", "=", taskId)
    .where("number", "=", number)
    .executeTakeFirst();
  return row === undefined ? null : runOf(row);
}
