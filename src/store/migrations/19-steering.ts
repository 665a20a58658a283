/**
 * Migration 19: steering messages, which are said to runs at work. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function steeringTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("steering")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("task_id", id, (column) => column.notNull())
    .addColumn("run", number, (column) => column.notNull())
    .addColumn("number", number, (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("said_by", "text", (column) => column.notNull())
    .addColumn("state", id, (column) => column.notNull())
    .addColumn("message_id", id)
    .addColumn("reason", "text")
    .addColumn("accepted_at", number, (column) => column.notNull())
    .addColumn("sent_at", number)
    .addColumn("settled_at", number)
    .execute();
  await kysely.schema.createIndex("steering_by_run").on("steering").columns(["task_id", "run", "number"]).execute();
}
