/**
 * Migration 8: the host that a parent's session belongs to, and when a notice that failed is tried again. A parent that is there
 * launched its tasks through its own host, so that they tell which one it is. Never edited once released.
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
