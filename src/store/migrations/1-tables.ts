/**
 * Migration 1: all tables and indexes. Never edited once released; later changes are new migrations. On PostgreSQL ids
 * sort by bytes (collate "C"), as on SQLite, so that a prefix is a range on both.
 */
import { type CreateTableBuilder, type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

type Type = Parameters<CreateTableBuilder<string>["addColumn"]>[1];

interface Types {
  id: Type;
  number: Type;
}

type Columns = Record<string, "id" | "id?" | "text" | "text?" | "number" | "number?">;

const TASKS: Columns = {
  id: "id",
  session_id: "id",
  host: "text",
  directory: "text",
  parent_session_id: "id",
  parent_message_id: "id",
  parent_agent: "text",
  description: "text",
  description_search: "text",
  agent: "id",
  model: "text?",
  batch_id: "id",
  is_forked: "number",
  status: "id",
  live: "number",
  phase: "text?",
  phase_detail: "text?",
  run: "number",
  started_at: "number",
  created_seq: "number",
  completed_at: "number?",
  result_retrieved_at: "number?",
  cleared_at: "number?",
  cancel_requested_at: "number?",
  owner: "id?",
  progress: "text",
};

const RUNS: Columns = {
  task_id: "id",
  number: "number",
  prompt: "text",
  message_id: "id",
  started_at: "number",
  ended_at: "number?",
  outcome: "text?",
  result: "text?",
  error: "text?",
  before: "text",
};

const NOTICES: Columns = {
  task_id: "id",
  run: "number",
  kind: "text",
  topic: "text",
  parent_session_id: "id",
  created_at: "number",
  batch_ended: "number",
  batch_total: "number",
  batch_live: "number",
  state: "id",
  message_id: "id?",
  sender: "id?",
  attempts: "number",
  reason: "text?",
  settled_at: "number?",
};

const LAUNCHES: Columns = {
  id: "id",
  owner: "id",
  at: "number",
  parent_session_id: "id",
  parent_message_id: "id",
  parent_agent: "text",
  host: "text",
  directory: "text",
  description: "text",
  prompt: "text",
  message_id: "id",
  agent: "text",
  model: "text?",
  batch_id: "id",
  is_forked: "number",
};

const INSTANCES: Columns = {
  id: "id",
  pid: "number",
  process_start: "text",
  boot_id: "text",
  host: "text",
  directory: "text",
  started_at: "number",
};

const PARENTS: Columns = {
  session_id: "id",
  handler: "id?",
  agent: "text?",
  model: "text?",
  variant: "text?",
  seen_at: "number",
};

export async function firstTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const types: Types =
    dialect === "postgres"
      ? { id: sql`text collate "C"`, number: "double precision" }
      : { id: "text", number: "integer" };
  const keyed = (name: string, columns: Columns, key: string[]) =>
    withColumns(kysely.schema.createTable(name), columns, types).addPrimaryKeyConstraint(
      `${name}_key`,
      key as unknown as never[],
    );
  const numbered = (name: string, key: string, columns: Columns) =>
    withColumns(withNumber(kysely.schema.createTable(name), key, dialect), columns, types);

  await keyed("tasks", TASKS, ["id"]).execute();
  await keyed("runs", RUNS, ["task_id", "number"]).execute();
  await numbered("events", "seq", { task_id: "id", type: "text", event: "text" }).execute();
  await numbered("notices", "id", NOTICES).execute();
  await keyed("launches", LAUNCHES, ["id"]).execute();
  await keyed("instances", INSTANCES, ["id"]).execute();
  await keyed("parents", PARENTS, ["session_id"]).execute();
  await indexes(kysely);
}

async function indexes(kysely: Kysely<Schema>): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    kysely.schema.createIndex(name).on(table).columns(columns);
  const started = ["started_at", "created_seq"];

  await index("tasks_by_parent", "tasks", ["parent_session_id", ...started]).execute();
  await index("tasks_by_message", "tasks", ["parent_session_id", "parent_message_id", ...started]).execute();
  await index("tasks_by_batch", "tasks", ["batch_id", ...started]).execute();
  await index("tasks_by_status", "tasks", ["status", ...started]).execute();
  await index("tasks_by_agent", "tasks", ["agent", ...started]).execute();
  await index("tasks_by_start", "tasks", started).execute();
  await index("tasks_live", "tasks", started).where(sql.ref("live"), "=", sql.lit(1)).execute();
  await index("tasks_owned", "tasks", ["owner", ...started])
    .where(sql.ref("owner"), "is not", null)
    .execute();
  await index("events_by_task", "events", ["task_id", "seq"]).execute();
  await index("notices_once", "notices", ["task_id", "run", "topic"]).unique().execute();
  await index("notices_by_parent", "notices", ["parent_session_id", "state", "id"]).execute();
  await index("notices_unsettled", "notices", ["parent_session_id"])
    .where(sql.ref("state"), "in", [sql.lit("pending"), sql.lit("sending")])
    .execute();
  await index("notices_by_message", "notices", ["message_id"]).where(sql.ref("message_id"), "is not", null).execute();
}

function withNumber(builder: CreateTableBuilder<string>, key: string, dialect: Dialect): CreateTableBuilder<string> {
  if (dialect === "sqlite") return builder.addColumn(key, "integer", (column) => column.primaryKey().autoIncrement());
  return builder.addColumn(key, "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity());
}

function withColumns(builder: CreateTableBuilder<string>, columns: Columns, types: Types): CreateTableBuilder<string> {
  let table = builder;
  for (const [name, kind] of Object.entries(columns)) {
    const base = kind.replace("?", "");
    const type = base === "id" ? types.id : base === "number" ? types.number : "text";
    table = table.addColumn(name, type, (column) => (kind.endsWith("?") ? column : column.notNull()));
  }
  return table;
}
