/**
 * The filters of a task query, as conditions on `tasks`. A shape says which filters are present; their values come
 * later, so that a statement is compiled once per shape. Each filter has its index. Does not order or limit.
 */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { isLive, STATUSES, type Status } from "../../model/task.ts";
import { given } from "../compiled-query.ts";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";
import type { TaskQuery } from "../store.ts";
import { type SearchShape, scanned, searchCondition, searchShape } from "./search.ts";

const EQUAL = {
  parentSessionId: "tasks.parent_session_id",
  batchId: "tasks.batch_id",
  agent: "tasks.agent",
  owner: "tasks.owner",
} as const;
type Equal = keyof typeof EQUAL;

/** Greater than any character that can follow a prefix. */
const LAST_CHARACTER = "\u{10FFFF}";

export interface TaskShape {
  equal: readonly Equal[];
  /** Null for any. */
  statuses: readonly Status[] | null;
  search: SearchShape | null;
  byId: boolean;
  cleared: boolean | null;
}

export function shapeOf(dialect: Dialect, query: TaskQuery): TaskShape {
  const wanted = query.status === undefined ? null : STATUSES.filter((status) => query.status?.includes(status));
  const shape: TaskShape = {
    equal: (Object.keys(EQUAL) as Equal[]).filter((name) => query[name] !== undefined),
    statuses: wanted?.length === STATUSES.length ? null : wanted,
    search: query.search === undefined ? null : searchShape(dialect, query.search),
    byId: query.idPrefix !== undefined,
    cleared: query.cleared ?? null,
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
  const { equal, search, byId, cleared } = shape;
  return equal.every((name) => name === "agent") && search === null && !byId && cleared === null;
}

/** Whether the search is the only filter. */
export function isOnlySearch(shape: TaskShape): boolean {
  const { equal, statuses, byId, cleared } = shape;
  return equal.length === 0 && statuses === null && !byId && cleared === null;
}

/** Whether a filter is present that few tasks pass, however many are stored. */
export function isNarrow({ equal, statuses, byId }: TaskShape): boolean {
  return equal.some((name) => name !== "agent") || byId || (statuses?.every(isLive) ?? false);
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
 * ordered ranges can be merged without reading more than the page.
 */
export function rangesOf(shape: TaskShape): TaskShape[] {
  const { statuses } = shape;
  if (statuses === null || statuses.length < 2 || shape.search !== null || isNarrow(shape)) return [shape];
  return statuses.map((status) => ({ ...shape, statuses: [status] }));
}

function filtered<Row>(all: Tasks<Row>, shape: TaskShape): Tasks<Row> {
  const { statuses } = shape;
  const wide = isNarrow(shape) || isIndexed(shape) ? inPassing : (condition: Condition) => condition;
  let rows = all;
  for (const name of shape.equal) {
    const condition = sql<boolean>`${sql.ref(EQUAL[name])} = ${asked(name)}`;
    rows = rows.where(name === "agent" ? wide(condition) : condition);
  }
  if (statuses !== null) for (const condition of amongStatuses(statuses, wide)) rows = rows.where(condition);
  if (shape.search !== null) rows = rows.where(searchFor(shape.search));
  if (shape.byId) {
    const end = given((query: TaskQuery) => `${query.idPrefix}${LAST_CHARACTER}`);
    rows = rows.where("tasks.id", ">=", asked("idPrefix")).where("tasks.id", "<", end);
  }
  if (shape.cleared !== null) rows = rows.where("tasks.cleared_at", shape.cleared ? "is not" : "is", null);
  return rows;
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
