/**
 * Migration 3: the board. Ids sort by bytes on both databases, so that "ties by the smaller id" means the same. Each
 * list has an index in its own order. Never edited once released.
 */
import { type CreateTableBuilder, type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

type Columns = Record<string, "id" | "id?" | "text" | "text?" | "number" | "number?">;

const PROJECTS: Columns = { id: "id", name: "id", created_at: "number", updated_at: "number" };

const REPOS: Columns = {
  id: "id",
  project_id: "id",
  name: "id",
  path: "id",
  copy: "text",
  setup: "text?",
  created_at: "number",
};

const WORK_ITEMS: Columns = {
  id: "id",
  project_id: "id",
  title: "text",
  description: "text?",
  status: "id",
  created_at: "number",
  updated_at: "number",
};

const ATTEMPTS: Columns = {
  id: "id",
  work_item_id: "id",
  host: "text",
  variant: "text?",
  branch: "text",
  state: "id",
  error: "text?",
  folder: "id?",
  created_at: "number",
  updated_at: "number",
};

const ATTEMPT_REPOS: Columns = {
  attempt_id: "id",
  position: "number",
  repo_id: "id",
  target_branch: "text",
  path: "id?",
};

const BOARD_SESSIONS: Columns = { id: "id", attempt_id: "id", task_id: "id", host: "text", created_at: "number" };

const FOLLOW_UPS: Columns = {
  id: "id",
  session_id: "id",
  prompt: "text",
  variant: "text?",
  queued_at: "number",
  after_run: "number?",
  error: "text?",
};

const BOARD_REQUESTS: Columns = {
  operation: "id",
  request_id: "id",
  input_hash: "id",
  answer: "text?",
  at: "number",
};

export async function boardTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const keyed = (name: string, columns: Columns, key: string[]) =>
    withColumns(kysely.schema.createTable(name), columns, dialect)
      .addPrimaryKeyConstraint(`${name}_key`, key as unknown as never[])
      .execute();
  await keyed("projects", PROJECTS, ["id"]);
  await keyed("repos", REPOS, ["id"]);
  await keyed("work_items", WORK_ITEMS, ["id"]);
  await keyed("attempts", ATTEMPTS, ["id"]);
  await keyed("attempt_repos", ATTEMPT_REPOS, ["attempt_id", "position"]);
  await keyed("board_sessions", BOARD_SESSIONS, ["id"]);
  await keyed("board_requests", BOARD_REQUESTS, ["operation", "request_id"]);
  await withColumns(withNumber(kysely.schema.createTable("follow_ups"), dialect), FOLLOW_UPS, dialect).execute();
  await indexes(kysely);
}

async function indexes(kysely: Kysely<Schema>): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    kysely.schema.createIndex(name).on(table).columns(columns);
  await index("projects_by_name", "projects", ["name"]).unique().execute();
  await index("projects_by_creation", "projects", ["created_at", "id"]).execute();
  await index("repos_by_name", "repos", ["project_id", "name"]).unique().execute();
  await index("repos_by_creation", "repos", ["project_id", "created_at", "id"]).execute();
  await index("repos_by_path", "repos", ["path", "created_at", "id"]).execute();
  await index("work_items_newest", "work_items", ["project_id", "created_at desc", "id"]).execute();
  await index("work_items_by_status", "work_items", ["project_id", "status", "created_at desc", "id"]).execute();
  await index("attempts_newest", "attempts", ["work_item_id", "created_at desc", "id"]).execute();
  await index("attempts_starting", "attempts", ["created_at", "id"])
    .where(sql.ref("state"), "=", sql.lit("starting"))
    .execute();
  await index("attempts_by_folder", "attempts", ["folder"]).where(sql.ref("folder"), "is not", null).execute();
  await index("attempt_repos_by_path", "attempt_repos", ["path"]).where(sql.ref("path"), "is not", null).execute();
  await index("attempt_repos_by_repo", "attempt_repos", ["repo_id"]).execute();
  await index("board_sessions_newest", "board_sessions", ["attempt_id", "created_at desc", "id"]).execute();
  await index("board_sessions_by_task", "board_sessions", ["task_id"]).unique().execute();
  await index("follow_ups_by_id", "follow_ups", ["id"]).unique().execute();
  await index("follow_ups_in_order", "follow_ups", ["session_id", "number"]).execute();
  await index("board_requests_by_time", "board_requests", ["at"]).execute();
}

function withNumber(builder: CreateTableBuilder<string>, dialect: Dialect): CreateTableBuilder<string> {
  if (dialect === "sqlite") {
    return builder.addColumn("number", "integer", (column) => column.primaryKey().autoIncrement());
  }
  return builder.addColumn("number", "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity());
}

function withColumns(
  builder: CreateTableBuilder<string>,
  columns: Columns,
  dialect: Dialect,
): CreateTableBuilder<string> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  let table = builder;
  for (const [name, kind] of Object.entries(columns)) {
    const base = kind.replace("?", "");
    const type = base === "id" ? id : base === "number" ? number : "text";
    table = table.addColumn(name, type, (column) => (kind.endsWith("?") ? column : column.notNull()));
  }
  return table;
}
