/**
 * Folders with a store of N ended tasks, written through the store itself, event by event, so that rows, totals,
 * search index and notices are real. No task is live and no notice is pending: a program that opens such a store has
 * nothing to recover.
 */
import { mkdir } from "node:fs/promises";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { storedTask } from "./stored-tasks.ts";

const BATCH = 500;
const MAX_NOTICES = 100;

export async function fillStore(directory: string, tasks: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  const store = await sqliteStore({ directory });
  try {
    for (let oldest = tasks - 1; oldest >= 0; oldest -= BATCH) await writeTasks(store, oldest);
    await settleAll(store);
  } finally {
    await store.close();
  }
}

/** Oldest first, so that newer tasks come later in the feed too. */
async function writeTasks(store: Store, oldest: number): Promise<void> {
  await store.write(async (transaction) => {
    for (let age = oldest; age > oldest - BATCH && age >= 0; age--) {
      const { id, made, ended } = storedTask(age);
      await transaction.apply(id, made);
      await transaction.apply(id, ended);
    }
  });
}

async function settleAll(store: Store): Promise<void> {
  for (let parents = await store.parentsWithNotices(); parents.length > 0; parents = await store.parentsWithNotices()) {
    for (const parent of parents) {
      const messageId = `msg_notice_${parent}`;
      const [claimed] = await store.claimNotices(parent, { sender: "ins_bench", messageId, limit: MAX_NOTICES });
      if (claimed) await store.settleNotices(messageId, claimed, { state: "delivered", reason: null, at: Date.now() });
    }
  }
}
