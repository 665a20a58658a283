/**
 * The filters of a task query, as conditions on `tasks`. A shape says which filters are present; their values come
 * later, so that a statement is compiled once per shape. Each filter has its index. Does not order or limit.
 */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { isLive, STATUSES, type Status, type TaskSort } from "../../model/task.ts";
import { given } from "../compiled-query.ts";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";
import type { TaskQuery } from "../store.ts";
import { type SearchShape, scanned, searchCondition, searchShape } from "./search.ts";

const EQUAL = {
  parentSessionId: "tasks.parent_session_id",
  batchId: "tasks.batch_id",
  agent: "tasks.agent",
  host: "tasks.host",
  owner: "tasks.owner",
} as const;
type Equal = keyof typeof EQUAL;
/** Those that any number of tasks may pass. */
const WIDE: ReadonlySet<Equal> = new Set(["agent", "host"]);

/** What ended tasks are sorted by, each with an index over them alone. */
export const SORT_COLUMNS = { took: "took", cost: "cost", description: "sort_name" } as const;
type ColumnSort = keyof typeof SORT_COLUMNS;

/** Greater than any character that can follow a prefix. */
const LAST_CHARACTER = "\u{10FFFF}";

export interface TaskShape {
  dialect: Dialect;
  equal: readonly Equal[];
  /** Null for any. */
  statuses: readonly Status[] | null;
  search: SearchShape | null;
  byId: boolean;
  inFolder: boolean;
  /** Which bounds of the start are given. */
  from: boolean;
  before: boolean;
  cleared: boolean | null;
  /** True: only live tasks; false: only ended ones. Set for the ranges of a sorted list. */
  live: boolean | null;
  sort: Exclude<TaskSort, "started"> | null;
}

export function shapeOf(dialect: Dialect, query: TaskQuery): TaskShape {
  const wanted = query.status === undefined ? null : STATUSES.filter((status) => query.status?.includes(status));
  const { sort = "started" } = query;
  const shape: TaskShape = {
    dialect,
    equal: (Object.keys(EQUAL) as Equal[]).filter((name) => query[name] !== undefined),
    statuses: wanted?.length === STATUSES.length ? null : wanted,
    search: query.search === undefined ? null : searchShape(dialect, query.search),
    byId: query.idPrefix !== undefined,
    inFolder: query.directory !== undefined,
    from: query.startedFrom !== undefined,
    before: query.startedBefore !== undefined,
    cleared: query.cleared ?? null,
    live: null,
    sort: sort === "started" ? null : sort,
  };
  // If another filter leaves few tasks, scanning them is faster than finding all that contain the words.
  return isIndexed(shape) && isNarrow(shape) && shape.search ? { ...shape, search: scanned(shape.search) } : shape;
}

/** Whether tasks are found through the search index. */
export function isIndexed({ search }: TaskShape): boolean {
  return search?.way === "index";
}

/** Whether the only filters are agents and statuses: `agent_totals` has the number of such tasks. */
export function isCounted(shape: TaskShape): boolean {
  return shape.equal.every((name) => name === "agent") && shape.search === null && hasNoRange(shape);
}

function hasNoRange({ byId, inFolder, from, before, cleared }: TaskShape): boolean {
  return !byId && !inFolder && !from && !before && cleared === null;
}

/** Whether the search is the only filter. */
export function isOnlySearch(shape: TaskShape): boolean {
  return shape.equal.length === 0 && shape.statuses === null && hasNoRange(shape);
}

/** Whether a filter is present that few tasks pass, however many are stored. */
export function isNarrow({ equal, statuses, byId, inFolder, live }: TaskShape): boolean {
  if (equal.some((name) => !WIDE.has(name)) || byId || inFolder) return true;
  return live === true || (statuses?.every(isLive) ?? false);
}

/** The column of its own that a shape is sorted by, if it is. */
export function sortColumnOf({ sort }: TaskShape): (typeof SORT_COLUMNS)[ColumnSort] | null {
  return sort === null || sort === "status" ? null : SORT_COLUMNS[sort];
}

type Condition = RawBuilder<boolean>;
export type Tasks<Row = object> = SelectQueryBuilder<Schema, "tasks", Row>;

/** The tasks of a shape. Search results are found first, and each is looked up by its `created_seq`. */
export function selectMatching(kysely: Kysely<Schema>, shape: TaskShape): Tasks {
  if (!isIndexed(shape)) return filtered(kysely.selectFrom("tasks"), shape);
  // SQLite joins a cross join in the order in which it is written.
  const found = kysely.selectFrom("task_search").crossJoin("tasks");
  return filtered(found.whereRef("tasks.created_seq", "=", "task_search.rowid") as unknown as Tasks, shape);
}

/**
 * Splits a shape into shapes whose tasks together are the same. Each of several statuses is a range of an index, and
 * ordered ranges can be merged without reading more than the page. The indexes of some sorts have ended tasks only; the
 * live ones are few.
 */
export function rangesOf(shape: TaskShape): TaskShape[] {
  const { statuses } = shape;
  if (shape.search !== null || isNarrow(shape)) return [shape];
  if (sortColumnOf(shape) !== null) {
    const among = (live: boolean) => statuses?.filter((status) => isLive(status) === live) ?? null;
    const ranges = [true, false].map((live) => ({ ...shape, live, statuses: among(live) }));
    return ranges.filter((range) => range.statuses?.length !== 0);
  }
  if (statuses === null || statuses.length < 2) return [shape];
  return statuses.map((status) => ({ ...shape, statuses: [status] }));
}

function filtered<Row>(all: Tasks<Row>, shape: TaskShape): Tasks<Row> {
  const { statuses, live } = shape;
  const isOther = isNarrow(shape) || isIndexed(shape) || live === false;
  const wide = isOther ? inPassing : (condition: Condition) => condition;
  let rows = all;
  for (const name of shape.equal) {
    const condition = sql<boolean>`${sql.ref(EQUAL[name])} = ${asked(name)}`;
    rows = rows.where(WIDE.has(name) ? wide(condition) : condition);
  }
  if (statuses !== null) for (const condition of amongStatuses(statuses, wide)) rows = rows.where(condition);
  if (shape.search !== null) rows = rows.where(searchFor(shape.search));
  if (shape.byId) {
    const end = given((query: TaskQuery) => `${query.idPrefix}${LAST_CHARACTER}`);
    rows = rows.where("tasks.id", ">=", asked("idPrefix")).where("tasks.id", "<", end);
  }
  if (shape.inFolder) rows = rows.where(inFolder(shape.dialect));
  if (shape.from) rows = rows.where(wide(sql`tasks.started_at >= ${given((query: TaskQuery) => query.startedFrom)}`));
  if (shape.before)
    rows = rows.where(wide(sql`tasks.started_at < ${given((query: TaskQuery) => query.startedBefore)}`));
  // A literal, as for the live ones.
  if (live !== null) rows = rows.where(sql<boolean>`tasks.live = ${sql.lit(live ? 1 : 0)}`);
  if (shape.cleared !== null) rows = rows.where("tasks.cleared_at", shape.cleared ? "is not" : "is", null);
  return rows;
}

/**
 * One range of the index: from the folder to just after everything below it, less what only begins like it. On
 * PostgreSQL the index has the beginnings of folders, which narrow it down; must equal that of migration 26.
 */
function inFolder(dialect: Dialect): Condition {
  const folder = (end: string) => given(({ directory = "" }: TaskQuery) => directory.replace(/\/+$/, "") + end);
  const column = dialect === "postgres" ? sql`tasks.directory collate "C"` : sql`tasks.directory`;
  const exact = sql<boolean>`${column} >= ${folder("")} and ${column} < ${folder("0")}
    and (${column} >= ${folder("/")} or ${column} = ${folder("")})`;
  if (dialect !== "postgres") return exact;
  const beginning = sql`left(tasks.directory, 300) collate "C"`;
  return sql`${beginning} >= left(${folder("")}, 300) and ${beginning} <= left(${folder("0")}, 300) and ${exact}`;
}

export function searchFor(search: SearchShape) {
  return searchCondition(search, (read) => given((query: TaskQuery) => read(query.search ?? "")));
}

function asked(name: Equal | "idPrefix"): string {
  return given((query: TaskQuery) => query[name] ?? "");
}

function amongStatuses(statuses: readonly Status[], wide: (condition: Condition) => Condition): Condition[] {
  if (statuses.length === 0) return [sql`1 = 0`];
  const among = wide(sql`tasks.status in (${sql.join(statuses)})`);
  if (!statuses.every(isLive)) return [among];
  // The literal (not a parameter) lets SQLite choose the partial index.
  const live: Condition = sql`tasks.live = 1`;
  return statuses.length === STATUSES.filter(isLive).length ? [live] : [live, among];
}

/** Keeps SQLite from using the index of an agent or a status if another filter leaves far fewer tasks. */
function inPassing(condition: Condition): Condition {
  return sql`(${condition}) is true`;
}
