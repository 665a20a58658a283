/**
 * Migration 27: what runs spent their time on, one row for each run, for timelines. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function spansTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("run_spans")
    .addColumn("task_id", id, (column) => column.notNull())
    .addColumn("run", number, (column) => column.notNull())
    .addColumn("spans", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("run_spans_key", ["task_id", "run"])
    .execute();
}
