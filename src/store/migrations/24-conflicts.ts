/**
 * Migration 24: merges of attempts that met conflicts, until somebody goes on with them: what git said, and when. Never
 * edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function mergeConflicts(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const number = dialect === "postgres" ? "double precision" : "integer";
  await kysely.schema.alterTable("attempts").addColumn("conflict", "text").execute();
  await kysely.schema.alterTable("attempts").addColumn("conflict_at", number).execute();
  await kysely.schema
    .createIndex("attempts_conflicts")
    .on("attempts")
    .columns(["conflict_at"])
    .where(sql.ref("conflict"), "is not", null)
    .execute();
}
