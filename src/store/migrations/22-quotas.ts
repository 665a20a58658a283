/**
 * Migration 22: how often a run was paused, and what it had used by then. Runs from before never were. Never edited
 * once released.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export async function runPauses(kysely: Kysely<Schema>): Promise<void> {
  await kysely.schema.alterTable("runs").addColumn("pauses", "text").execute();
}
