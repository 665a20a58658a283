/**
 * Migration 8: the host of a parent's session, and when a failed notice is tried again. An existing parent launched its
 * tasks through its own host, so its host is derived from them. Never edited once released.
 */
import type { Kysely } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function parentHosts(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const number = dialect === "postgres" ? "double precision" : "integer";
  await kysely.schema.alterTable("notices").addColumn("next_try_at", number).execute();
  await kysely.schema.alterTable("parents").addColumn("host", "text").execute();
  await kysely
    .updateTable("parents")
    .set((row) => ({
      host: row
        .selectFrom("tasks")
        .select(({ fn }) => fn.min<string | null>("tasks.host").as("host"))
        .whereRef("tasks.parent_session_id", "=", "parents.session_id"),
    }))
    .execute();
}
