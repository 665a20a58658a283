/**
 * The time that all users of a database agree on: its own clock on PostgreSQL, whose users are on several machines, and
 * the given time on SQLite, whose users share one machine and its clock.
 */
import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "./database.ts";

/** In milliseconds since the epoch. */
export function databaseTime(dialect: Dialect, at: number): RawBuilder<number> {
  if (dialect === "sqlite") return sql<number>`${at}`;
  return sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::double precision`;
}
