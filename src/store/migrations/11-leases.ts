/**
 * Migration 11: the machine that something is on, the lease of an instance, and the fences of live runs and of notices
 * on their way. What exists is on an unknown machine, which may be any. Never edited once released.
 */
import type { Kysely } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function leases(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  for (const table of ["instances", "tasks", "launches", "parents", "attempts"] as const) {
    await kysely.schema
      .alterTable(table)
      .addColumn("machine", "text", (column) => column.notNull().defaultTo(""))
      .execute();
  }
  for (const table of ["tasks", "notices"] as const) {
    await kysely.schema
      .alterTable(table)
      .addColumn("fence", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  }
  const time = dialect === "postgres" ? "double precision" : "integer";
  await kysely.schema.alterTable("instances").addColumn("lease_until", time).execute();
}
