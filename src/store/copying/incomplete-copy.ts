/**
 * The mark of a store that is being filled by a copy. It is there before the first row, and goes when everything was
 * checked: whatever interrupts the copy, nobody takes the part for the whole.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Database } from "../database.ts";
import { readMeta } from "../meta.ts";

/** Rejects a store that is an incomplete copy. */
export async function refuseIfIncomplete(database: Pick<Database, "read">): Promise<void> {
  const mark = await database.read((kysely) => readMeta(kysely, "copying"));
  if (mark === null) return;
  const message =
    "This store is an incomplete copy of another one. Wait until `asyncagents store copy` is done; if it was interrupted, run it again with the same addresses.";
  throw new AsyncAgentsError("store_unavailable", message);
}
