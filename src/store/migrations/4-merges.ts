/**
 * Migration 4: the commit of an attempt's merge, so that its changes can be shown afterwards. Never edited once
 * released.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export async function mergeCommits(kysely: Kysely<Schema>): Promise<void> {
  await kysely.schema.alterTable("attempt_repos").addColumn("merged_commit", "text").execute();
}
