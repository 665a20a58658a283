/**
 * Migration 10: the queue of runs for any runner, the lines they wait in, and the runners. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function queueTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const isPostgres = dialect === "postgres";
  const id = isPostgres ? sql`text collate "C"` : "text";
  const number = isPostgres ? "double precision" : "integer";
  const { schema } = kysely;
  const numbered = isPostgres
    ? schema
        .createTable("queued_runs")
        .addColumn("seq", "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity())
    : schema.createTable("queued_runs").addColumn("seq", "integer", (column) => column.primaryKey().autoIncrement());
  await numbered
    .addColumn("task_id", id, (column) => column.notNull().unique())
    .addColumn("line", id, (column) => column.notNull())
    .addColumn("priority", number, (column) => column.notNull())
    .addColumn("state", id, (column) => column.notNull())
    .addColumn("fence", number, (column) => column.notNull())
    .addColumn("claimed_by", id)
    .addColumn("claimed_until", number)
    .addColumn("ticket", "text", (column) => column.notNull())
    .addColumn("retries", number, (column) => column.notNull())
    .addColumn("source", "text")
    .addColumn("limits", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("queue_lines")
    .addColumn("line", id, (column) => column.primaryKey())
    .addColumn("host", "text", (column) => column.notNull())
    .addColumn("model", "text")
    .addColumn("labels", "text", (column) => column.notNull())
    .addColumn("machine", "text")
    .execute();
  await schema
    .createIndex("queued_runs_waiting")
    .on("queued_runs")
    .columns(["line", "priority desc", "seq"])
    .where(sql.ref("state"), "=", sql.lit("waiting"))
    .execute();
  await schema
    .createIndex("queued_runs_claimed")
    .on("queued_runs")
    .columns(["line", "claimed_until"])
    .where(sql.ref("state"), "<>", sql.lit("waiting"))
    .execute();
}
