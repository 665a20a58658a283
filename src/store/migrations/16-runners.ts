/**
 * Migration 16: the runners, where a queued run gets its repository from, why it waits, and the clone that a task works
 * in. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function runnersTable(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  const { schema } = kysely;
  await schema
    .createTable("runners")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("machine", "text", (column) => column.notNull())
    .addColumn("hostname", "text", (column) => column.notNull())
    .addColumn("version", "text", (column) => column.notNull())
    .addColumn("offer", "text", (column) => column.notNull())
    .addColumn("load", number, (column) => column.notNull())
    .addColumn("lacks", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("started_at", number, (column) => column.notNull())
    .addColumn("seen_at", number, (column) => column.notNull())
    .execute();
  await schema.alterTable("queue_lines").addColumn("remote", "text").execute();
  await schema.alterTable("queued_runs").addColumn("bound", "text").execute();
  await schema.alterTable("queued_runs").addColumn("trouble", "text").execute();
  await schema.alterTable("tasks").addColumn("clone", "text").execute();
}
