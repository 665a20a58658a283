/**
 * Migration 28: no text that may be stored is too long for its index. PostgreSQL refuses rows whose entry in an
 * ordinary index is longer than 2,704 bytes: names that are longer than launches allow now are cut, because a task that
 * has one could not end, and paths, which may have 4,096, are indexed by their hash. Never edited once released.
 */
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";
import { schemaOf } from "./17-many-tasks.ts";

const LONGEST = 200;
/** What is kept of a longer one. The rest is a digest, because two may begin alike. */
const KEPT = 150;
const NAMES = [
  ["tasks", "agent"],
  ["tasks", "host"],
  ["agent_totals", "agent"],
] as const;

export async function longTexts(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  for (const [table, column] of NAMES) await cutNames(kysely, table, column);
  if (dialect === "postgres") await indexByHash(kysely);
}

/** On SQLite, too: such a store can be copied to PostgreSQL. */
async function cutNames(kysely: Kysely<Schema>, table: "tasks" | "agent_totals", column: string): Promise<void> {
  const name = sql.ref<string>(column);
  const long = await kysely
    .selectFrom(table)
    .select(name.as("name"))
    .distinct()
    .where(sql<number>`length(${name})`, ">", LONGEST)
    .execute();
  for (const { name: longer } of long) {
    const digest = createHash("sha256").update(longer).digest("hex").slice(0, 32);
    const shorter = `${Array.from(longer).slice(0, KEPT).join("")} ${digest}`;
    await kysely
      .updateTable(table)
      .set({ [column]: shorter })
      .where(name, "=", longer)
      .execute();
  }
}

async function indexByHash(kysely: Kysely<Schema>): Promise<void> {
  const { schema } = kysely;
  const names = ["repos_by_path", "attempts_by_folder", "attempt_repos_by_path", "approvals_by_subject"];
  for (const name of names) await schema.dropIndex(name).execute();
  const index = (name: string, table: string, column: string) =>
    schema.createIndex(name).on(table).using("hash").column(column);
  await index("repos_by_path", "repos", "path").execute();
  await index("attempts_by_folder", "attempts", "folder").where(sql.ref("folder"), "is not", null).execute();
  await index("attempt_repos_by_path", "attempt_repos", "path").where(sql.ref("path"), "is not", null).execute();
  // A hash index cannot be unique, and this is the same. No subject is of two kinds: it is a path, or a digest.
  const unique = `exclude using hash (subject with =)`;
  await sql
    .raw(`alter table ${schemaOf(kysely)}.approvals add constraint approvals_by_subject ${unique}`)
    .execute(kysely);
}
