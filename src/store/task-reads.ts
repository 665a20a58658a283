/**
 * Reading tasks, runs and batches. Every read is bounded; each filter has its index, and live tasks are found through the
 * partial one. Does not write.
 */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import { isLive, type Run, STATUSES, type Status, type Task } from "../model/task.ts";
import { bounded } from "./bounds.ts";
import type { Schema } from "./schema.ts";
import type { TaskPage, TaskQuery } from "./store.ts";
import { RUN_COLUMNS, runOf, selectTasks, taskOf } from "./task-rows.ts";

/** Higher than any character that can follow a prefix. */
const LAST_CHARACTER = "\u{10FFFF}";
/** What PostgreSQL's substr can count. */
const MOST_CHARACTERS = 2 ** 31 - 1;

export async function readTask(kysely: Kysely<Schema>, id: string): Promise<Task | null> {
  const row = await selectTasks(kysely).where("tasks.id", "=", id).executeTakeFirst();
  return row === undefined ? null : taskOf(row);
}

export async function readTasks(kysely: Kysely<Schema>, query: TaskQuery): Promise<TaskPage> {
  const rows = await selectPage(kysely, query).execute();
  const count = await filtered(kysely.selectFrom("tasks").select(sql<number>`count(*)`.as("total")), query).execute();
  return { tasks: rows.map(taskOf), total: Number(count[0]?.total ?? 0) };
}

/** The statement behind a page of tasks; its own function so that a test can ask the database how it would run. */
export function selectPage(kysely: Kysely<Schema>, query: TaskQuery) {
  const direction = query.order === "oldest" ? "asc" : "desc";
  const chars = query.resultChars === undefined ? undefined : bounded(query.resultChars, 0, MOST_CHARACTERS);
  return filtered(selectTasks(kysely, chars), query)
    .orderBy("tasks.started_at", direction)
    .orderBy("tasks.created_seq", direction)
    .limit(bounded(query.limit, 50, 200))
    .offset(bounded(query.offset, 0, Number.MAX_SAFE_INTEGER));
}

function filtered<Tables extends keyof Schema, Row>(
  builder: SelectQueryBuilder<Schema, Tables | "tasks", Row>,
  query: TaskQuery,
) {
  let rows = builder as SelectQueryBuilder<Schema, "tasks", Row>;
  if (query.parentSessionId !== undefined) rows = rows.where("tasks.parent_session_id", "=", query.parentSessionId);
  if (query.batchId !== undefined) rows = rows.where("tasks.batch_id", "=", query.batchId);
  if (query.agent !== undefined) rows = rows.where("tasks.agent", "=", query.agent);
  if (query.owner !== undefined) rows = rows.where("tasks.owner", "=", query.owner);
  if (query.status !== undefined) rows = withStatus(rows, query.status);
  if (query.search !== undefined) rows = rows.where(like("tasks.description_search", query.search.toLowerCase()));
  if (query.idPrefix !== undefined) {
    rows = rows.where("tasks.id", ">=", query.idPrefix).where("tasks.id", "<", `${query.idPrefix}${LAST_CHARACTER}`);
  }
  if (query.cleared !== undefined) rows = rows.where("tasks.cleared_at", query.cleared ? "is not" : "is", null);
  return rows;
}

function withStatus<Row>(rows: SelectQueryBuilder<Schema, "tasks", Row>, status: readonly Status[]) {
  const wanted = STATUSES.filter((each) => status.includes(each));
  if (wanted.length === 0) return rows.where(sql<boolean>`1 = 0`);
  if (!wanted.every(isLive)) return rows.where("tasks.status", "in", wanted);
  // The literal (not a parameter) is what lets SQLite choose the partial index.
  const live = rows.where(sql<boolean>`tasks.live = 1`);
  return wanted.length === STATUSES.filter(isLive).length ? live : live.where("tasks.status", "in", wanted);
}

function like(column: string, text: string) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`;
}

export async function readBatchCounts(kysely: Kysely<Schema>, batchId: string): Promise<Record<Status, number>> {
  const rows = await kysely
    .selectFrom("tasks")
    .select(["status", sql<number>`count(*)`.as("count")])
    .where("batch_id", "=", batchId)
    .groupBy("status")
    .execute();
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for (const row of rows) counts[row.status as Status] = Number(row.count);
  return counts;
}

export async function readBatchOf(
  kysely: Kysely<Schema>,
  parentSessionId: string,
  among: { messageId: string } | "live",
): Promise<string | null> {
  // A launch that has no task yet is newer than every task, and as live.
  let launches = kysely.selectFrom("launches").select("batch_id").where("parent_session_id", "=", parentSessionId);
  if (among !== "live") launches = launches.where("parent_message_id", "=", among.messageId);
  const launch = await launches.orderBy("at", "desc").limit(1).executeTakeFirst();
  if (launch) return launch.batch_id;
  const own = kysely.selectFrom("tasks").select("batch_id").where("parent_session_id", "=", parentSessionId);
  const row = await (among === "live"
    ? own.where(sql<boolean>`live = 1`)
    : own.where("parent_message_id", "=", among.messageId)
  )
    .orderBy("started_at", "desc")
    .orderBy("created_seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.batch_id ?? null;
}

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
