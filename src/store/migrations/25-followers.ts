/**
 * Migration 25: programs that follow what they launched over MCP, and how each of them is told. Never edited once
 * released.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export async function followersTable(kysely: Kysely<Schema>): Promise<void> {
  await kysely.schema
    .createTable("followers")
    .addColumn("task_id", "text", (column) => column.primaryKey())
    .addColumn("client", "text", (column) => column.notNull())
    .addColumn("way", "text", (column) => column.notNull())
    .addColumn("call_id", "text")
    .execute();
  await kysely.schema.createIndex("followers_client").on("followers").columns(["client"]).execute();
  await kysely.schema.createIndex("followers_call").on("followers").columns(["call_id"]).execute();
}
