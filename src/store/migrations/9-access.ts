/** Migration 9: access tokens by the hash of their secret, and the audit log. Never edited once released. */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function accessTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  await kysely.schema
    .createTable("access_tokens")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("name", id, (column) => column.notNull().unique())
    .addColumn("hash", id, (column) => column.notNull().unique())
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("created_at", number, (column) => column.notNull())
    .addColumn("expires_at", number)
    .addColumn("last_used_at", number)
    .addColumn("revoked_at", number)
    .execute();
  const audit = kysely.schema.createTable("audit");
  const numbered =
    dialect === "postgres"
      ? audit.addColumn("seq", "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity())
      : audit.addColumn("seq", "integer", (column) => column.primaryKey().autoIncrement());
  await numbered
    .addColumn("at", number, (column) => column.notNull())
    .addColumn("by", "text", (column) => column.notNull())
    .addColumn("operation", "text", (column) => column.notNull())
    .addColumn("subject", id)
    .addColumn("outcome", "text", (column) => column.notNull())
    .execute();
  await kysely.schema.createIndex("audit_by_subject").on("audit").columns(["subject", "seq"]).execute();
}
