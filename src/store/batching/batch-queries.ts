/**
 * Queries over many rows at once, one statement however many there are: rows are given as JSON, ids as arrays.
 * PostgreSQL only.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { linkedBudgets } from "../budgets/budget-reads.ts";
import type { BudgetRow } from "../budgets/rows.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { tryLockOf } from "../sql/lock.ts";
import { type TaskRow, taskRowColumns, withNewestRun } from "../tasks/rows.ts";

type Kind = "text" | "number";

const TASK = {
  id: "text",
  session_id: "text",
  host: "text",
  directory: "text",
  parent_session_id: "text",
  parent_message_id: "text",
  parent_agent: "text",
  description: "text",
  description_search: "text",
  sort_name: "text",
  agent: "text",
  model: "text",
  batch_id: "text",
  is_forked: "number",
  status: "text",
  live: "number",
  phase: "text",
  phase_detail: "text",
  run: "number",
  started_at: "number",
  completed_at: "number",
  result_retrieved_at: "number",
  cleared_at: "number",
  cancel_requested_at: "number",
  owner: "text",
  fence: "number",
  machine: "text",
  wake: "text",
  clone: "text",
  after_tasks: "text",
  progress: "text",
  took: "number",
  cost: "number",
} as const satisfies { [Column in keyof Omit<RowOf<"tasks">, "created_seq">]: Kind };

const RUN = {
  task_id: "text",
  number: "number",
  prompt: "text",
  message_id: "text",
  started_at: "number",
  ended_at: "number",
  outcome: "text",
  result: "text",
  error: "text",
  before: "text",
  pauses: "text",
} as const satisfies { [Column in keyof RowOf<"runs">]: Kind };

const QUEUED = {
  task_id: "text",
  line: "text",
  priority: "number",
  state: "text",
  fence: "number",
  claimed_by: "text",
  claimed_until: "number",
  ticket: "text",
  retries: "number",
  source: "text",
  limits: "text",
  bound: "text",
  trouble: "text",
} as const satisfies { [Column in keyof Omit<RowOf<"queued_runs">, "seq">]: Kind };

const SPANS = {
  task_id: "text",
  run: "number",
  spans: "text",
} as const satisfies { [Column in keyof RowOf<"run_spans">]: Kind };

/** What an update of a task, and of a run, changes. */
const TASK_CHANGES = namesOf(TASK).filter(
  (name) => !["id", "host", "description", "sort_name", "started_at"].includes(name),
);
const RUN_CHANGES = ["message_id", "started_at", "ended_at", "outcome", "result", "error", "before", "pauses"] as const;

export interface NewEvents {
  taskIds: readonly string[];
  types: readonly string[];
  events: readonly string[];
}

interface Ids {
  ids: readonly string[];
}

/** `rows`: as JSON. */
interface Given {
  rows: string;
}

function namesOf<Column extends string>(kinds: Record<Column, Kind>): Column[] {
  return Object.keys(kinds) as Column[];
}

/** The given rows as a table named `given`. */
function recordset<Column extends string>(rows: unknown, kinds: Record<Column, Kind>) {
  const columns = namesOf(kinds).map(
    (name) => sql`${sql.id(name)} ${sql.raw(kinds[name] === "text" ? "text" : "double precision")}`,
  );
  const table: RawBuilder<Record<Column, never>> = sql`json_to_recordset(${rows}::json)`;
  return table.as<"given">(sql`given(${sql.join(columns)})`);
}

function givenColumns<Column extends string>(names: readonly Column[]) {
  return names.map((name) => sql.ref<never>(`given.${name}`).as(name));
}

function assigned(names: readonly string[]): Record<string, RawBuilder<never>> {
  return Object.fromEntries(names.map((name) => [name, sql.ref<never>(`given.${name}`)]));
}

export const selectTasks = preparedQuery<Ids, TaskRow>((kysely, { ids }) =>
  withNewestRun(kysely.selectFrom("tasks")).select(taskRowColumns(null)).where(sql<boolean>`tasks.id = any(${ids})`),
);

export const selectChains = preparedQuery<Ids, BudgetRow & { task_id: string }>((kysely, { ids }) =>
  linkedBudgets(kysely).where(sql<boolean>`task_budgets.task_id = any(${ids})`),
);

/** Where to look for what ties changes to more rows than a batch writes. */
export interface TieQuery {
  /** All tasks of the batch, and the parents of new ones. */
  ids: readonly string[];
  /** Tasks that begin or end a run: of these, the batches; and those of new tasks. */
  moving: readonly string[];
  batches: readonly string[];
  /** Tasks whose run ends. */
  ending: readonly string[];
  /** Budgets that new tasks would count in. */
  budgets: readonly string[];
}

/**
 * The ids of what is found: attempts among the batches; tasks whose run ends with messages that are not settled, or
 * that others wait for; tasks, and sessions of tasks, that count in budgets; and those budgets.
 */
export const selectTies = preparedQuery<TieQuery, { id: string }>(
  (kysely, { ids, moving, batches, ending, budgets }) => {
    const stored = kysely.selectFrom("tasks").select("batch_id").where(sql<boolean>`tasks.id = any(${moving})`);
    return kysely
      .selectFrom("attempts")
      .select("id")
      .where(sql<boolean>`id = any(array(${stored}) || ${batches}::text[])`)
      .unionAll(
        kysely
          .selectFrom("steering")
          .select("task_id as id")
          .where(sql<boolean>`task_id = any(${ending})`)
          .where("state", "in", ["accepted", "sent"]),
      )
      .unionAll(
        kysely
          .selectFrom("predecessors")
          .select("predecessor_id as id")
          .where(sql<boolean>`predecessor_id = any(${ending})`),
      )
      .unionAll(kysely.selectFrom("task_budgets").select("task_id as id").where(sql<boolean>`task_id = any(${ids})`))
      .unionAll(
        kysely
          .selectFrom("tasks")
          .innerJoin("task_budgets", "task_budgets.task_id", "tasks.id")
          .select("tasks.session_id as id")
          .where(sql<boolean>`tasks.session_id = any(${ids})`)
          .where(sql<boolean>`tasks.session_id <> tasks.id and tasks.session_id <> ''`),
      )
      .unionAll(kysely.selectFrom("budgets").select("id").where(sql<boolean>`id = any(${budgets})`));
  },
);

/** Locks the parents of tasks, where nobody else has. Not as a condition: that might be tried for other tasks, too. */
export const lockParents = preparedQuery<Ids, { id: string; is_locked: boolean }>((kysely, { ids }) =>
  kysely
    .selectFrom("tasks")
    .select(["id", tryLockOf("parent", sql.ref("parent_session_id")).as("is_locked")])
    .where(sql<boolean>`id = any(${ids})`),
);

/** What was said to runs. Of each task, that of the run at its place. */
export const selectSteering = preparedQuery<Ids & { runs: readonly number[] }, RowOf<"steering">>(
  (kysely, { ids, runs }) =>
    kysely
      .selectFrom("steering")
      .innerJoin(
        sql<{ id: string; number: number }>`unnest(${ids}::text[], ${runs}::double precision[])`.as<"given">(
          sql`given(id, number)`,
        ),
        (join) => join.on(sql<boolean>`steering.task_id = given.id and steering.run = given.number`),
      )
      .selectAll("steering")
      .orderBy("steering.number"),
);

export const selectRegistered = preparedQuery<Ids, { id: string }>((kysely, { ids }) =>
  kysely.selectFrom("instances").select("id").where(sql<boolean>`id = any(${ids})`),
);

/** Those that nobody else is changing. */
export const lockQueued = preparedQuery<Ids, Pick<RowOf<"queued_runs">, "task_id" | "state" | "fence">>(
  (kysely, { ids }) =>
    kysely
      .selectFrom("queued_runs")
      .select(["task_id", "state", "fence"])
      .where(sql<boolean>`task_id = any(${ids})`)
      .forUpdate()
      .skipLocked(),
);

/** As `dropProgress`. */
export const deleteProgress = preparedQuery<Ids>((kysely, { ids }) =>
  kysely
    .deleteFrom("events")
    .where(sql<boolean>`events.task_id = any(${ids})`)
    .where("type", "=", "run.progressed")
    .where("seq", ">", (outer) =>
      outer
        .selectFrom("events as resumes")
        .select(sql<number>`coalesce(max(resumes.seq), 0)`.as("seq"))
        .where("resumes.task_id", "=", sql.ref<string>("events.task_id"))
        .where("resumes.type", "=", "task.resumed"),
    ),
);

function appended(kysely: Kysely<Schema>, { taskIds, types, events }: NewEvents) {
  const columns = ["task_id", "type", "event"] as const;
  const table: RawBuilder<Record<(typeof columns)[number], string>> =
    sql`unnest(${taskIds}::text[], ${types}::text[], ${events}::text[])`;
  return kysely
    .insertInto("events")
    .columns([...columns])
    .expression((row) =>
      row.selectFrom(table.as<"given">(sql`given(${sql.join(columns.map((name) => sql.id(name)))})`)).select(columns),
    );
}

export const insertEvents = preparedQuery<NewEvents>(appended);

/** Inserts events and the tasks that some of them create: their rows carry the numbers of their events. */
export const insertEventsAndTasks = preparedQuery<NewEvents & Given>((kysely, { rows, ...events }) =>
  kysely
    .with("appended", (outer) => appended(outer as unknown as Kysely<Schema>, events).returning(["seq", "task_id"]))
    .insertInto("tasks")
    .columns([...namesOf(TASK), "created_seq"])
    .expression((row) =>
      row
        .selectFrom(recordset(rows, TASK))
        .innerJoin("appended", (join) => join.on(sql<boolean>`appended.task_id = given.id`))
        .select([...givenColumns(namesOf(TASK)), sql.ref<never>("appended.seq").as("created_seq")]),
    ),
);

/** The ids make the planner use the index: it knows nothing about how many rows are given. */
export const updateTasks = preparedQuery<Given & Ids>((kysely, { rows, ids }) =>
  kysely
    .updateTable("tasks")
    .from(recordset(rows, TASK))
    .set(assigned(TASK_CHANGES))
    .where(sql<boolean>`tasks.id = any(${ids}) and tasks.id = given.id`),
);

export const insertRuns = preparedQuery<Given>((kysely, { rows }) =>
  kysely
    .insertInto("runs")
    .columns(namesOf(RUN))
    .expression((row) => row.selectFrom(recordset(rows, RUN)).select(givenColumns(namesOf(RUN)))),
);

export const updateRuns = preparedQuery<Given & Ids>((kysely, { rows, ids }) =>
  kysely
    .updateTable("runs")
    .from(recordset(rows, RUN))
    .set(assigned(RUN_CHANGES))
    .where(sql<boolean>`runs.task_id = any(${ids})`)
    .where(sql<boolean>`runs.task_id = given.task_id and runs.number = given.number`),
);

export const putManySpans = preparedQuery<Given>((kysely, { rows }) =>
  kysely
    .insertInto("run_spans")
    .columns(namesOf(SPANS))
    .expression((row) => row.selectFrom(recordset(rows, SPANS)).select(givenColumns(namesOf(SPANS))))
    .onConflict((conflict) =>
      conflict.columns(["task_id", "run"]).doUpdateSet(({ ref }) => ({ spans: ref("excluded.spans") })),
    ),
);

export const insertQueued = preparedQuery<Given>((kysely, { rows }) =>
  kysely
    .insertInto("queued_runs")
    .columns(namesOf(QUEUED))
    .expression((row) => row.selectFrom(recordset(rows, QUEUED)).select(givenColumns(namesOf(QUEUED)))),
);

export const beginQueued = preparedQuery<Ids>((kysely, { ids }) =>
  kysely
    .updateTable("queued_runs")
    .set({ state: "begun", claimed_until: null })
    .where(sql<boolean>`task_id = any(${ids})`),
);

export const deleteQueued = preparedQuery<Ids>((kysely, { ids }) =>
  kysely.deleteFrom("queued_runs").where(sql<boolean>`task_id = any(${ids})`),
);
