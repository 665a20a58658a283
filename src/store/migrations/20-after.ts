/**
 * Migration 20: tasks that start after others, the folder that a queued run is bound to, and an index of the tasks
 * whose session has another id. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function afterTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const id = dialect === "postgres" ? sql`text collate "C"` : "text";
  const { schema } = kysely;
  await schema.alterTable("tasks").addColumn("after_tasks", "text").execute();
  await schema.alterTable("queue_lines").addColumn("directory", "text").execute();
  await schema
    .createTable("predecessors")
    .addColumn("task_id", id, (column) => column.notNull())
    .addColumn("predecessor_id", id, (column) => column.notNull())
    .addPrimaryKeyConstraint("predecessors_key", ["predecessor_id", "task_id"])
    .execute();
  await schema.createIndex("predecessors_of_task").on("predecessors").columns(["task_id"]).execute();
  await schema
    .createIndex("tasks_by_session")
    .on("tasks")
    .columns(["session_id"])
    .where(sql<boolean>`session_id <> id`)
    .execute();
}
