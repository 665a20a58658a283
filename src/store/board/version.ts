/**
 * A number that increases with every change of the board, in the same transaction, so that watchers can compare it.
 */
import { type Kysely, sql } from "kysely";
import { readMeta } from "../meta.ts";
import type { Schema } from "../schema.ts";

export async function readBoardVersion(kysely: Kysely<Schema>): Promise<number> {
  return Number((await readMeta(kysely, "board_version")) ?? 0);
}

export async function raiseBoardVersion(kysely: Kysely<Schema>): Promise<void> {
  await kysely
    .insertInto("meta")
    .values({ key: "board_version", value: "1" })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({ value: sql`cast(cast(meta.value as integer) + 1 as text)` }),
    )
    .execute();
}
