/**
 * Migration 7: the heartbeat of an instance, and the pid namespace that its pid belongs to. Never edited once released.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export async function heartbeats(kysely: Kysely<Schema>): Promise<void> {
  await kysely.schema
    .alterTable("instances")
    .addColumn("pid_namespace", "text", (column) => column.notNull().defaultTo(""))
    .execute();
  await kysely.schema
    .alterTable("instances")
    .addColumn("beat", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
}
