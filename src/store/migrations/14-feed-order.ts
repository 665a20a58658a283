/**
 * Migration 13, for PostgreSQL only, where many write at once: the place of each event in the feed, which is given
 * after its commit, and rows of the totals that writers do not share. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

const SLOTS = 64;

export async function feedOrder(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  if (dialect === "sqlite") return;
  await kysely.schema.alterTable("events").addColumn("place", "bigint").execute();
  await kysely.updateTable("events").set({ place: sql<number>`seq` }).execute();
  await kysely.schema.createIndex("events_in_place").on("events").column("place").unique().execute();
  await kysely.schema
    .createIndex("events_without_place")
    .on("events")
    .column("seq")
    .where(sql.ref("place"), "is", null)
    .execute();
  await kysely.schema
    .createTable("feed_end")
    .addColumn("place", "bigint", (column) => column.notNull())
    .execute();
  await kysely
    .insertInto("feed_end")
    .columns(["place"])
    .expression((row) => row.selectFrom("events").select(sql<number>`coalesce(max(seq), 0)`.as("place")))
    .execute();
  await kysely.schema
    .alterTable("agent_totals")
    .addColumn("slot", "integer", (column) => column.notNull().defaultTo(sql`pg_backend_pid() % ${sql.lit(SLOTS)}`))
    .execute();
  await kysely.schema.alterTable("agent_totals").dropConstraint("agent_totals_pkey").execute();
  await kysely.schema
    .alterTable("agent_totals")
    .addPrimaryKeyConstraint("agent_totals_by_slot", ["agent", "slot"])
    .execute();
}
