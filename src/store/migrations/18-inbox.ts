/**
 * Migration 18: indexes for what needs a person: tasks that wait for an answer, and failed tasks that a person launched
 * and whose end nobody has read. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";

export async function inboxIndexes(kysely: Kysely<Schema>): Promise<void> {
  await kysely.schema
    .createIndex("tasks_waiting")
    .on("tasks")
    .columns(["started_at", "created_seq"])
    .where(sql.ref("phase"), "=", sql.lit("waiting"))
    .execute();
  // With the columns of its condition: SQLite prefers another index otherwise.
  await kysely.schema
    .createIndex("tasks_unread_failures")
    .on("tasks")
    .columns(["status", "parent_session_id", "completed_at"])
    .where(sql.ref("status"), "=", sql.lit("error"))
    .where(sql.ref("parent_session_id"), "=", sql.lit(""))
    .where(sql.ref("result_retrieved_at"), "is", null)
    .where(sql.ref("cleared_at"), "is", null)
    .execute();
}
