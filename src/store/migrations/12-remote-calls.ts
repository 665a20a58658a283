/**
 * Migration 12: remote calls, which one process asks for and another performs. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function remoteCallsTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("remote_calls")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("to_instance", id, (column) => column.notNull())
    .addColumn("operation", id, (column) => column.notNull())
    .addColumn("input", "text", (column) => column.notNull())
    .addColumn("made_by", "text", (column) => column.notNull())
    .addColumn("state", id, (column) => column.notNull())
    .addColumn("answer", "text")
    .addColumn("created_at", number, (column) => column.notNull())
    .addColumn("expires_at", number, (column) => column.notNull())
    .execute();
  await kysely.schema
    .createIndex("remote_calls_by_instance")
    .on("remote_calls")
    .columns(["to_instance", "state", "created_at"])
    .execute();
  await kysely.schema.createIndex("remote_calls_by_expiry").on("remote_calls").columns(["expires_at"]).execute();
}
