/**
 * A page of tasks and how many there are. A page costs the same however many tasks are stored: it is read in an index's
 * order, and the total of the common filters is kept rather than counted. Does not write.
 */
import { type Compilable, type Kysely, sql } from "kysely";
import type { Task } from "../model/task.ts";
import { countByStatus } from "./agent-totals.ts";
import { bounded } from "./bounds.ts";
import { compiledOnce, given } from "./compiled-query.ts";
import type { Dialect } from "./database.ts";
import type { Schema } from "./schema.ts";
import type { TaskPage, TaskQuery } from "./store.ts";
import {
  isCounted,
  isOnlySearch,
  rangesOf,
  searchFor,
  selectMatching,
  shapeOf,
  type TaskShape,
  type Tasks,
} from "./task-filters.ts";
import { type TaskRow, taskColumns, taskOf, withNewestRun } from "./task-rows.ts";

/** What PostgreSQL's substr can count. */
const MOST_CHARACTERS = 2 ** 31 - 1;
/** A look at a whole task costs as much as so many looks at what the search found. */
const LOOK_COST = 2;

interface PageShape extends TaskShape {
  direction: "asc" | "desc";
  /** Whether texts are cut. */
  cut: boolean;
  /** Whether the page's tasks are chosen in an index alone before anything else of them is read. */
  keysFirst: boolean;
}

export async function readTasks(kysely: Kysely<Schema>, dialect: Dialect, query: TaskQuery): Promise<TaskPage> {
  const shape = shapeOf(dialect, query);
  const found = shape.search === "index" ? await countFound(kysely, query) : null;
  const isDense = found !== null && (await isFrequent(kysely, query, found));
  const page = pageStatement(kysely, isDense ? { ...shape, search: "scan" } : shape, query);
  const { rows } = await kysely.executeQuery(page);
  const tasks: Task[] = rows.map(taskOf);
  return { tasks, total: totalSeen(rows.length, query) ?? (await readTotal(kysely, shape, query, found)) };
}

/** The statement behind a page of tasks; its own function so that a test can ask the database how it would run. */
export function pageStatement(kysely: Kysely<Schema>, matching: TaskShape, query: TaskQuery) {
  const shape: PageShape = {
    ...matching,
    direction: query.order === "oldest" ? "asc" : "desc",
    cut: query.textChars !== undefined,
    keysFirst: offsetOf(query) > 0 || matching.search === "index" || rangesOf(matching).length > 1,
  };
  return pageQuery(kysely, shape, query);
}

/** How many descriptions hold the term, whatever else is asked for. */
async function countFound(kysely: Kysely<Schema>, query: TaskQuery): Promise<number> {
  const { rows } = await kysely.executeQuery(foundQuery(kysely, null, query));
  return Number(rows[0]?.total ?? 0);
}

/** Whether it is shorter to look at tasks in their order until the page is full than to order all that were found. */
async function isFrequent(kysely: Kysely<Schema>, query: TaskQuery, found: number): Promise<boolean> {
  const all = await countByStatus(kysely, null, undefined);
  const looks = ((offsetOf(query) + limitOf(query)) * all) / Math.max(1, found);
  return found > LOOK_COST * looks;
}

/** A page that is not full shows the end: nothing needs to be counted. */
function totalSeen(rows: number, query: TaskQuery): number | null {
  const isLast = rows < limitOf(query) && (rows > 0 || offsetOf(query) === 0);
  return isLast ? offsetOf(query) + rows : null;
}

async function readTotal(
  kysely: Kysely<Schema>,
  shape: TaskShape,
  query: TaskQuery,
  found: number | null,
): Promise<number> {
  if (isCounted(shape)) return countByStatus(kysely, shape.statuses, query.agent);
  if (found !== null && isOnlySearch(shape)) return found;
  const { rows } = await kysely.executeQuery(countQuery(kysely, shape, query));
  return Number(rows[0]?.total ?? 0);
}

const pageQuery = compiledOnce<PageShape, TaskQuery, TaskRow>((kysely, shape) => {
  return shape.keysFirst ? selectByKeys(kysely, shape) : selectInOrder(kysely, shape);
});

const foundQuery = compiledOnce<null, TaskQuery, { total: number }>((kysely) =>
  kysely.selectFrom("task_search").select(sql<number>`count(*)`.as("total")).where(searchFor("index")),
);

/** Exported so that a test can ask the database how it would run. */
export const countQuery = compiledOnce<TaskShape, TaskQuery, { total: number }>((kysely, shape) =>
  selectMatching(kysely, shape).select(sql<number>`count(*)`.as("total")),
);

function selectInOrder(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  return selectRows(selectMatching(kysely, shape), shape).limit(given(limitOf)).offset(given(offsetOf));
}

function selectByKeys(kysely: Kysely<Schema>, shape: PageShape): Compilable<TaskRow> {
  const keys = rangesOf(shape)
    .map((range) => selectMatching(kysely, range).select(["tasks.started_at", "tasks.created_seq"]))
    .reduce((ranges, range) => ranges.unionAll(range));
  const page = keys
    .orderBy("started_at", shape.direction)
    .orderBy("created_seq", shape.direction)
    .limit(given(limitOf))
    .offset(given(offsetOf));
  // SQLite joins a cross join in the order in which it is written.
  const tasks = kysely.selectFrom(page.as("page")).crossJoin("tasks");
  return selectRows(tasks.whereRef("tasks.created_seq", "=", "page.created_seq") as unknown as Tasks, shape);
}

function selectRows(tasks: Tasks, { direction, cut }: PageShape) {
  const characters = cut ? given((query: TaskQuery) => bounded(query.textChars, 0, MOST_CHARACTERS)) : null;
  return withNewestRun(tasks)
    .select(taskColumns(characters))
    .orderBy("tasks.started_at", direction)
    .orderBy("tasks.created_seq", direction);
}

function limitOf({ limit }: TaskQuery): number {
  return bounded(limit, 50, 200);
}

function offsetOf({ offset }: TaskQuery): number {
  return bounded(offset, 0, Number.MAX_SAFE_INTEGER);
}
