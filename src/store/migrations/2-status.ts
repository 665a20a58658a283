/**
 * Migration 2: makes the cost of a status page independent of the number of tasks: totals per agent, an index for the
 * keyword search, and covering indexes for lists and the history. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

const STATUSES = ["running", "completed", "error", "cancelled", "resumed"] as const;
const PROGRESS = {
  tool_calls: ["toolCalls"],
  input_tokens: ["tokens", "input"],
  output_tokens: ["tokens", "output"],
  reasoning_tokens: ["tokens", "reasoning"],
  cache_read_tokens: ["tokens", "cacheRead"],
  cache_write_tokens: ["tokens", "cacheWrite"],
  cost: ["cost"],
} as const;

export async function statusTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  await makeTotals(kysely, dialect);
  await fillTotals(kysely, dialect);
  await indexes(kysely);
  if (dialect === "sqlite") await makeSearch(kysely);
}

async function makeTotals(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number, fraction] =
    dialect === "postgres"
      ? ([sql`text collate "C"`, "double precision", "double precision"] as const)
      : (["text", "integer", "real"] as const);
  let table = kysely.schema.createTable("agent_totals").addColumn("agent", id, (column) => column.primaryKey());
  for (const name of [...STATUSES, "ended_runs", "duration_sum", ...Object.keys(PROGRESS)]) {
    table = table.addColumn(name, name === "cost" ? fraction : number, (column) => column.notNull());
  }
  await table.addColumn("duration_min", number).addColumn("duration_max", number).execute();
}

/** Also used for a rebuilt store. */
export async function recountTotals(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  await kysely.deleteFrom("agent_totals").execute();
  await fillTotals(kysely, dialect);
}

async function fillTotals(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const progress = Object.entries(PROGRESS) as [keyof typeof PROGRESS, readonly string[]][];
  const amount = (path: readonly string[]) =>
    dialect === "postgres"
      ? sql<number>`(tasks.progress::json #>> ${sql.lit(`{${path.join(",")}}`)})::double precision`
      : sql<number>`json_extract(tasks.progress, ${sql.lit(`$.${path.join(".")}`)})`;
  const ofTasks = kysely
    .selectFrom("tasks")
    .select("agent")
    .select(
      STATUSES.map((status) => sql<number>`sum(case when status = ${sql.lit(status)} then 1 else 0 end)`.as(status)),
    )
    .select(progress.map(([name, path]) => sql<number>`coalesce(sum(${amount(path)}), 0)`.as(name)))
    .groupBy("agent");
  const duration = sql<number>`case when runs.ended_at > runs.started_at then runs.ended_at - runs.started_at else 0 end`;
  const ofRuns = kysely
    .selectFrom("runs")
    .innerJoin("tasks", "tasks.id", "runs.task_id")
    .select("tasks.agent")
    .select([sql<number>`count(*)`.as("ended_runs"), sql<number>`sum(${duration})`.as("duration_sum")])
    .select([sql<number>`min(${duration})`.as("duration_min"), sql<number>`max(${duration})`.as("duration_max")])
    .where("runs.ended_at", "is not", null)
    .groupBy("tasks.agent");
  const names = [...STATUSES, ...progress.map(([name]) => name)];
  await kysely
    .insertInto("agent_totals")
    .columns(["agent", ...names, "ended_runs", "duration_sum", "duration_min", "duration_max"])
    .expression(
      kysely
        .selectFrom(ofTasks.as("of_tasks"))
        .leftJoin(ofRuns.as("of_runs"), "of_runs.agent", "of_tasks.agent")
        .select(["of_tasks.agent", ...names.map((name) => `of_tasks.${name}` as const)])
        .select([sql<number>`coalesce(of_runs.ended_runs, 0)`.as("ended_runs")])
        .select([sql<number>`coalesce(of_runs.duration_sum, 0)`.as("duration_sum")])
        .select(["of_runs.duration_min", "of_runs.duration_max"]),
    )
    .execute();
}

async function indexes(kysely: Kysely<Schema>): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    kysely.schema.createIndex(name).on(table).columns(columns).execute();
  await index("tasks_by_agent_status", "tasks", ["agent", "status", "started_at", "created_seq"]);
  // Orders and filters search results without reading the tasks themselves.
  await index("tasks_by_creation", "tasks", ["created_seq", "started_at", "status", "agent"]);
  // SQLite ignores a partial index that lacks the column of its own condition.
  await kysely.schema
    .createIndex("notices_open")
    .on("notices")
    .columns(["parent_session_id", "state"])
    .where(sql.ref("state"), "in", [sql.lit("pending"), sql.lit("sending")])
    .execute();
  await kysely.schema
    .createIndex("runs_by_end")
    .on("runs")
    .columns(["ended_at", "started_at"])
    .where(sql.ref("ended_at"), "is not", null)
    .execute();
}

/**
 * All runs of three characters of each description, by `created_seq`. It stores no text (`content=''`), so to remove an
 * entry its text must be given again.
 */
async function makeSearch(kysely: Kysely<Schema>): Promise<void> {
  await sql`create virtual table task_search using fts5(
    description, content='', columnsize=0, tokenize='trigram case_sensitive 1'
  )`.execute(kysely);
  await sql`create trigger tasks_search_added after insert on tasks begin
    insert into task_search (rowid, description) values (new.created_seq, new.description_search);
  end`.execute(kysely);
  await sql`create trigger tasks_search_removed after delete on tasks begin
    insert into task_search (task_search, rowid, description)
    values ('delete', old.created_seq, old.description_search);
  end`.execute(kysely);
  await sql`insert into task_search (rowid, description)
    select created_seq, description_search from tasks order by created_seq`.execute(kysely);
}
