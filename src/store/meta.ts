/** Facts about the store itself, by key: its schema's version, how far the mirror has come, how often the board changed. */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type MetaKey = "schema_version" | "mirrored_seq" | "board_version";

export async function readMeta(kysely: Kysely<Schema>, key: MetaKey): Promise<string | null> {
  const row = await kysely.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst();
  return row?.value ?? null;
}

export async function putMeta(kysely: Kysely<Schema>, key: MetaKey, value: string): Promise<void> {
  await kysely
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}
