/**
 * Migration 23: notifications for people outside, how far each of their channels has read the feed, and the browsers
 * that get them by Web Push. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function notificationTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number] =
    dialect === "postgres" ? ([sql`text collate "C"`, "double precision"] as const) : (["text", "integer"] as const);
  const { schema } = kysely;
  await schema
    .createTable("notifications")
    .addColumn("id", id, (column) => column.primaryKey())
    .addColumn("channel", id, (column) => column.notNull())
    .addColumn("key", id, (column) => column.notNull())
    .addColumn("task_id", id)
    .addColumn("content", "text", (column) => column.notNull())
    .addColumn("urgent", number, (column) => column.notNull())
    .addColumn("state", id, (column) => column.notNull())
    .addColumn("created_at", number, (column) => column.notNull())
    .addColumn("seq", number, (column) => column.notNull())
    .addColumn("due_at", number, (column) => column.notNull())
    .addColumn("attempts", number, (column) => column.notNull())
    .addColumn("claimed_by", id)
    .addColumn("claimed_until", number)
    .addColumn("fence", number, (column) => column.notNull())
    .addColumn("reason", "text")
    .addColumn("settled_at", number)
    .addColumn("merged_into", id)
    .execute();
  await schema.createIndex("notifications_by_key").on("notifications").columns(["channel", "key"]).unique().execute();
  await schema
    .createIndex("notifications_by_due")
    .on("notifications")
    .columns(["state", "channel", "due_at"])
    .execute();
  await schema.createIndex("notifications_by_task").on("notifications").columns(["task_id"]).execute();
  await schema.createIndex("notifications_by_time").on("notifications").columns(["created_at", "id"]).execute();
  await schema
    .createTable("push_subscriptions")
    .addColumn("endpoint", id, (column) => column.primaryKey())
    .addColumn("p256dh", "text", (column) => column.notNull())
    .addColumn("auth", "text", (column) => column.notNull())
    .addColumn("added_by", "text", (column) => column.notNull())
    .addColumn("created_at", number, (column) => column.notNull())
    .execute();
  await schema
    .createTable("push_keys")
    .addColumn("name", id, (column) => column.primaryKey())
    .addColumn("public_key", "text", (column) => column.notNull())
    .addColumn("private_key", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("notification_channels")
    .addColumn("channel", id, (column) => column.primaryKey())
    .addColumn("seq", number, (column) => column.notNull())
    .addColumn("since", number, (column) => column.notNull())
    .execute();
}
