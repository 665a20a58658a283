/**
 * Migration 15: which ends of a task wake its parent, and when a notice does. What exists wakes at once. Never edited
 * once released.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export async function wakes(kysely: Kysely<Schema>): Promise<void> {
  for (const [table, before] of [
    ["tasks", "each"],
    ["launches", "each"],
    ["notices", "now"],
  ] as const) {
    await kysely.schema
      .alterTable(table)
      .addColumn("wake", "text", (column) => column.notNull().defaultTo(before))
      .execute();
  }
}
