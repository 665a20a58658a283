/**
 * A number that increases with every change of the board, in the same transaction, so that watchers can compare it. On
 * PostgreSQL it is the sum of several counters, one for each slot of connections: writes do not wait for each other.
 */
import { type Kysely, sql } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";

const KEY = "board_version";
const SLOTS = 16;

export async function readBoardVersion(kysely: Kysely<Schema>): Promise<number> {
  const [row] = await selectVersion(kysely, {});
  return Number(row?.version ?? 0);
}

const selectVersion = preparedQuery<object, { version: number | string | null }>((kysely) => {
  const counters = kysely.selectFrom("meta").select(sql<number | null>`sum(cast(value as bigint))`.as("version"));
  if (dialectOf(kysely) === "sqlite") return counters.where("key", "=", KEY);
  return counters.where("key", "in", [KEY, ...Array.from({ length: SLOTS }, (_, slot) => `${KEY}:${slot}`)]);
});

export async function raiseBoardVersion(kysely: Kysely<Schema>): Promise<void> {
  await raise(kysely, {});
}

const raise = preparedQuery<object>((kysely) => {
  const ofSlot = sql<string>`${sql.lit(`${KEY}:`)} || pg_backend_pid() % ${sql.lit(SLOTS)}`;
  return kysely
    .insertInto("meta")
    .values({ key: dialectOf(kysely) === "postgres" ? ofSlot : KEY, value: "1" })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({ value: sql`cast(cast(meta.value as bigint) + 1 as text)` }),
    );
});
