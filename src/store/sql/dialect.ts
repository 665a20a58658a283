/** Which database a Kysely talks to, for the few queries that differ. */
import { type Kysely, PostgresAdapter } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export function dialectOf(kysely: Kysely<Schema>): Dialect {
  return kysely.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
}
