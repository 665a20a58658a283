/**
 * A page of tasks and how many there are. The cost does not depend on the number of stored tasks: a page is read in
 * index order, and the totals of common filters are stored rather than counted. Does not write.
 */
import { type Compilable, type Kysely, sql } from "kysely";
import type { Task } from "../../model/task.ts";
import { clamp } from "../clamp.ts";
import { compiledOnce, given } from "../compiled-query.ts";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";
import type { TaskPage, TaskQuery } from "../store.ts";
import { countByStatus } from "./agent-totals.ts";
import {
  isCounted,
  isIndexed,
  isNarrow,
  isOnlySearch,
  rangesOf,
  searchFor,
  selectMatching,
  shapeOf,
  type TaskShape,
  type Tasks,
} from "./filters.ts";
import { type TaskRow, taskOf, taskRowColumns, withNewestRun } from "./rows.ts";

/** The maximum for PostgreSQL's substr. */
const MOST_CHARACTERS = 2 ** 31 - 1;

interface PageShape extends TaskShape {
  direction: "asc" | "desc";
  /** Whether texts are shortened. */
  cut: boolean;
  /** Whether the page's tasks are chosen from an index alone before anything else of them is read. */
  keysFirst: boolean;
}

export async function readTasks(kysely: Kysely<Schema>, dialect: Dialect, query: TaskQuery): Promise<TaskPage> {
  const shape = shapeOf(dialect, query);
  const { rows } = await kysely.executeQuery(pageStatement(kysely, shape, query));
  const tasks: Task[] = rows.map(taskOf);
  return { tasks, total: totalSeen(rows.length, query) ?? (await readTotal(kysely, shape, query)) };
}

function pageStatement(kysely: Kysely<Schema>, matching: TaskShape, query: TaskQuery) {
  const shape: PageShape = {
    ...matching,
    direction: query.order === "oldest" ? "asc" : "desc",
    cut: query.textChars !== undefined,
    keysFirst: offsetOf(query) > 0 || isIndexed(matching) || rangesOf(matching).length > 1,
  };
  return pageQuery(kysely, shape, query);
}

/** A page that is not full is the last one: then counting is unnecessary. */
function totalSeen(rows: number, query: TaskQuery): number | null {
  const isLast = rows < limitOf(query) && (rows > 0 || offsetOf(query) === 0);
  return isLast ? offsetOf(query) + rows : null;
}

async function readTotal(kysely: Kysely<Schema>, shape: TaskShape, query: TaskQuery): Promise<number> {
  if (isCounted(shape)) return countByStatus(kysely, shape.statuses, query.agent);
  const { rows } = await kysely.executeQuery(countQuery(kysely, shape, query));
  return Number(rows[0]?.total ?? 0);
}

const pageQuery = compiledOnce<PageShape, TaskQuery, TaskRow>((kysely, shape) => {
  return shape.keysFirst ? selectByKeys(kysely, shape) : selectInOrder(kysely, shape);
});

const countQuery = compiledOnce<TaskShape, TaskQuery, { total: number }>((kysely, shape) =>
  selectKeys(kysely, shape).select(sql<number>`count(*)`.as("total")),
);

function selectInOrder(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  return selectRows(selectMatching(kysely, shape), shape).limit(given(limitOf)).offset(given(offsetOf));
}

function selectByKeys(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  const page = ordered(keysOf(kysely, shape), shape).limit(given(limitOf)).offset(given(offsetOf));
  // SQLite joins a cross join in the order in which it is written.
  const tasks = kysely.selectFrom(page.as("page")).crossJoin("tasks");
  return selectRows(tasks.whereRef("tasks.created_seq", "=", "page.created_seq") as unknown as Tasks, shape);
}

function keysOf(kysely: Kysely<Schema>, shape: PageShape) {
  if (isIndexed(shape)) {
    // In index order: nothing is sorted, and rows beyond the page are not read.
    return selectKeys(kysely, shape).select(sql<number>`task_search.rowid`.as("created_seq"));
  }
  return rangesOf(shape)
    .map((range) => selectMatching(kysely, range).select(["tasks.started_at", "tasks.created_seq"]))
    .reduce((ranges, range) => ranges.unionAll(range)) as unknown as Tasks<{ created_seq: number }>;
}

/** A search without other filters does not read the tasks. */
function selectKeys(kysely: Kysely<Schema>, shape: TaskShape): Tasks {
  if (shape.search === null || !isIndexed(shape) || !isOnlySearch(shape)) return selectMatching(kysely, shape);
  return kysely.selectFrom("task_search").where(searchFor(shape.search)) as unknown as Tasks;
}

function selectRows(tasks: Tasks, shape: PageShape) {
  const characters = shape.cut ? given((query: TaskQuery) => clamp(query.textChars, 0, MOST_CHARACTERS)) : null;
  return ordered(withNewestRun(tasks).select(taskRowColumns(characters)), shape, "tasks.");
}

/** By start. Search results are ordered by creation: the order of their index, at most milliseconds off. */
function ordered<Rows extends { orderBy(column: never, direction: "asc" | "desc"): Rows }>(
  rows: Rows,
  shape: PageShape,
  table = "",
): Rows {
  const { search, direction } = shape;
  const byStart = search === null ? rows.orderBy(`${table}started_at` as never, direction) : rows;
  const creation = sql.ref(`${table}created_seq`);
  // The plus keeps SQLite from reading all tasks in this order if another filter leaves few.
  const column = search !== null && isNarrow(shape) ? sql`+${creation}` : creation;
  return byStart.orderBy(column as never, direction);
}

function limitOf({ limit }: TaskQuery): number {
  return clamp(limit, 50, 200);
}

function offsetOf({ offset }: TaskQuery): number {
  return clamp(offset, 0, Number.MAX_SAFE_INTEGER);
}
