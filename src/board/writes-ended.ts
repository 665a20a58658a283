/** Waits for writes that failed here and may still be under way in the database: a transaction begins after them. */
import type { Store } from "../store/store.ts";

export async function writesEnded(store: Pick<Store, "write">): Promise<void> {
  await store.write(async () => {});
}
