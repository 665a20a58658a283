/**
 * Migration 13: conversations and diffs of ended runs, for readers on other machines. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function transcriptsTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("transcripts")
    .addColumn("task_id", id, (column) => column.notNull())
    .addColumn("kind", id, (column) => column.notNull())
    .addColumn("run", number, (column) => column.notNull())
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("at", number, (column) => column.notNull())
    .addPrimaryKeyConstraint("transcripts_key", ["task_id", "kind"])
    .execute();
}
