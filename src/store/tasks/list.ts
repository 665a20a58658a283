/**
 * A page of tasks and how many there are. The cost does not depend on the number of stored tasks: a page is read in
 * index order, and the totals of common filters are stored rather than counted. Does not write.
 */
import { type Compilable, type Kysely, sql } from "kysely";
import type { Status, Task } from "../../model/task.ts";
import { clamp } from "../clamp.ts";
import { compiledOnce, given } from "../compiled-query.ts";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";
import type { TaskHandle, TaskPage, TaskQuery, TaskSelection } from "../store.ts";
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
  sortColumnOf,
  type TaskShape,
  type Tasks,
} from "./filters.ts";
import { type TaskRow, taskOf, taskRowColumns, withNewestRun } from "./rows.ts";

/** The maximum for PostgreSQL's substr. */
const MOST_CHARACTERS = 2 ** 31 - 1;

const SELECTED = 500;
const MOST_SELECTED = 2000;

interface OrderedShape extends TaskShape {
  direction: "asc" | "desc";
}

interface PageShape extends OrderedShape {
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

export async function selectTasks(kysely: Kysely<Schema>, dialect: Dialect, query: TaskQuery): Promise<TaskSelection> {
  const shape = shapeOf(dialect, query);
  const { rows } = await kysely.executeQuery(selectionQuery(kysely, orderedShape(shape, query), query));
  const isAll = rows.length < selectedOf(query);
  return { tasks: rows, total: isAll ? rows.length : await readTotal(kysely, shape, query) };
}

function orderedShape(shape: TaskShape, { order }: TaskQuery): OrderedShape {
  return { ...shape, direction: order === "oldest" ? "asc" : "desc" };
}

function pageStatement(kysely: Kysely<Schema>, matching: TaskShape, query: TaskQuery) {
  const shape: PageShape = {
    ...orderedShape(matching, query),
    cut: query.textChars !== undefined,
    keysFirst: offsetOf(query) > 0 || isIndexed(matching) || isSortedFirst(matching),
  };
  return pageQuery(kysely, shape, query);
}

/** Whether the keys of all tasks that match, or of several ranges of them, are put in order before the page is cut. */
function isSortedFirst(shape: TaskShape): boolean {
  return shape.inFolder || shape.sort !== null || rangesOf(shape).length > 1;
}

/** A page that is not full is the last one: then counting is unnecessary. */
function totalSeen(rows: number, query: TaskQuery): number | null {
  const isLast = rows < limitOf(query) && (rows > 0 || offsetOf(query) === 0);
  return isLast ? offsetOf(query) + rows : null;
}

async function readTotal(kysely: Kysely<Schema>, shape: TaskShape, query: TaskQuery): Promise<number> {
  if (isCounted(shape)) return countByStatus(kysely, shape.statuses, query.agent);
  const { rows } = await kysely.executeQuery(countQuery(kysely, { ...shape, sort: null }, query));
  return Number(rows[0]?.total ?? 0);
}

const pageQuery = compiledOnce<PageShape, TaskQuery, TaskRow>((kysely, shape) => {
  return shape.keysFirst ? selectByKeys(kysely, shape) : selectInOrder(kysely, shape);
});

const countQuery = compiledOnce<TaskShape, TaskQuery, { total: number }>((kysely, shape) =>
  selectKeys(kysely, shape).select(sql<number>`count(*)`.as("total")),
);

const selectionQuery = compiledOnce<OrderedShape, TaskQuery, TaskHandle>((kysely, shape) => {
  const keys = ordered(keysOf(kysely, shape, selectedOf), shape).limit(given(selectedOf));
  const columns = ["tasks.id", "tasks.description", sql.ref<Status>("tasks.status").as("status")] as const;
  return ordered(joinedTo(kysely, keys).select(columns), shape, "tasks.");
});

function selectInOrder(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  return selectRows(selectMatching(kysely, shape), shape).limit(given(limitOf)).offset(given(offsetOf));
}

function selectByKeys(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  const keys = keysOf(kysely, shape, (query) => limitOf(query) + offsetOf(query));
  const page = ordered(keys, shape).limit(given(limitOf)).offset(given(offsetOf));
  return selectRows(joinedTo(kysely, page), shape);
}

function joinedTo(kysely: Kysely<Schema>, keys: Tasks<{ created_seq: number }>): Tasks {
  // SQLite joins a cross join in the order in which it is written.
  const tasks = kysely.selectFrom(keys.as("page")).crossJoin("tasks");
  return tasks.whereRef("tasks.created_seq", "=", "page.created_seq") as unknown as Tasks;
}

/** `most`: how many are needed at the most, from the first one on. */
function keysOf(
  kysely: Kysely<Schema>,
  shape: OrderedShape,
  most: (query: TaskQuery) => number,
): Tasks<{ created_seq: number }> {
  if (isIndexed(shape) && shape.sort === null) {
    // In index order: nothing is sorted, and rows beyond the page are not read.
    return selectKeys(kysely, shape).select(sql<number>`task_search.rowid`.as("created_seq"));
  }
  const columns = [...orderColumns({ ...shape, search: null }), "created_seq" as const];
  const ranges = rangesOf(shape).map((range) =>
    selectMatching(kysely, range).select(columns.map((name) => `tasks.${name}` as const)),
  );
  // SQLite merges ordered ranges; PostgreSQL would read and sort all of them.
  const isBounded = shape.dialect === "postgres" && ranges.length > 1;
  const bounded = (range: (typeof ranges)[number]) =>
    kysely.selectFrom(ordered(range, shape, "tasks.").limit(given(most)).as("range")).selectAll();
  const keys = (isBounded ? ranges.map(bounded) : ranges) as Tasks<{ created_seq: number }>[];
  return keys.reduce((all, range) => all.unionAll(range));
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

/** What comes before the creation. Search results are ordered by that alone: at most milliseconds off. */
function orderColumns(shape: TaskShape): readonly ("started_at" | "status" | "took" | "cost" | "sort_name")[] {
  const column = sortColumnOf(shape);
  if (column !== null) return [column];
  if (shape.sort === "status") return ["status", "started_at"];
  return shape.search === null ? ["started_at"] : [];
}

function ordered<Rows extends { orderBy(column: never, direction: "asc" | "desc"): Rows }>(
  rows: Rows,
  shape: OrderedShape,
  table = "",
): Rows {
  const { search, direction } = shape;
  // Not the column itself: SQLite would read all tasks in this order, although another filter leaves few.
  const isKept = isNarrow(shape) && (search !== null || isSortedFirst(shape));
  const column = (name: string) => {
    const reference = sql.ref(`${table}${name}`);
    return (isKept ? sql`coalesce(${reference}, ${reference})` : reference) as never;
  };
  const names = [...orderColumns(shape), "created_seq"];
  return names.reduce((ordering, name) => ordering.orderBy(column(name), direction), rows);
}

function limitOf({ limit }: TaskQuery): number {
  return clamp(limit, 50, 200);
}

function selectedOf({ limit }: TaskQuery): number {
  return clamp(limit, SELECTED, MOST_SELECTED);
}

function offsetOf({ offset }: TaskQuery): number {
  return clamp(offset, 0, Number.MAX_SAFE_INTEGER);
}
