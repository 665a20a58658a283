/**
 * Facts about the store itself, by key: the version of its schema, the progress of the mirror, what was pruned. The
 * version of the board is here too; `board/version.ts` has its queries.
 */
import type { Kysely } from "kysely";
import { preparedQuery } from "./compiled-query.ts";
import type { Schema } from "./schema.ts";

type MetaKey =
  | "schema_version"
  | "mirrored_seq"
  | "mirrored_pruned"
  | "rebuilt"
  | "pruned_tasks"
  | "pruned_seq"
  | "copying";

/** Facts about this very store or the files beside it: a copy of the store has its own. */
export const OWN_FACTS: readonly MetaKey[] = [
  "schema_version",
  "mirrored_seq",
  "mirrored_pruned",
  "rebuilt",
  "copying",
];

export async function readMeta(kysely: Kysely<Schema>, key: MetaKey): Promise<string | null> {
  const [row] = await selectValue(kysely, { key });
  return row?.value ?? null;
}

const selectValue = preparedQuery<{ key: MetaKey }, { value: string }>((kysely, { key }) =>
  kysely.selectFrom("meta").select("value").where("key", "=", key),
);

export async function putMeta(kysely: Kysely<Schema>, key: MetaKey, value: string): Promise<void> {
  await kysely
    .insertInto("meta")
    .values({ key, value })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
    .execute();
}

/** Removes the key; returns whether it existed. */
export async function removeMeta(kysely: Kysely<Schema>, key: MetaKey): Promise<boolean> {
  const { numDeletedRows } = await kysely.deleteFrom("meta").where("key", "=", key).executeTakeFirst();
  return numDeletedRows > 0n;
}
