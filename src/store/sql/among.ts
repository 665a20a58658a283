/**
 * The condition that a column has one of many values. On PostgreSQL the text of the query is the same however many
 * there are, so that it is prepared once; SQLite has no arrays.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { storableText } from "../storable.ts";
import { dialectOf } from "./dialect.ts";

export function among(kysely: Kysely<Schema>, column: string, values: readonly string[]): RawBuilder<boolean> {
  // What is inside of an array passes the plugin that does this for other parameters.
  const storable = values.map(storableText);
  if (dialectOf(kysely) === "postgres") return sql<boolean>`${sql.ref(column)} = any(${storable}::text[])`;
  return sql<boolean>`${sql.ref(column)} in (${sql.join(storable)})`;
}
