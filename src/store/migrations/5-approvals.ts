/**
 * Migration 5: approvals by people, and the order of all attempts. A unique index ensures that a subject is asked about
 * once. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function approvalsTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("approvals")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("kind", id, (column) => column.notNull())
    .addColumn("subject", id, (column) => column.notNull())
    .addColumn("directory", "text", (column) => column.notNull())
    .addColumn("script", "text")
    .addColumn("state", id, (column) => column.notNull())
    .addColumn("asked_by", "text", (column) => column.notNull())
    .addColumn("created_at", number, (column) => column.notNull())
    .addColumn("decided_at", number)
    .execute();
  await kysely.schema
    .createIndex("approvals_by_subject")
    .on("approvals")
    .columns(["kind", "subject"])
    .unique()
    .execute();
  await kysely.schema.createIndex("approvals_newest").on("approvals").columns(["created_at desc", "id"]).execute();
  await kysely.schema.createIndex("attempts_all_newest").on("attempts").columns(["created_at desc", "id"]).execute();
}
