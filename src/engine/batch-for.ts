/**
 * Which batch a launch joins. Decided in the transaction that stores it, and never another parent's. Does not check the
 * names of batches.
 */
import type { Transaction } from "../store/store.ts";
import type { Caller } from "./launch.ts";

/** The named batch, the batch of the same message, the parent's open batch, or a new one. Never another parent's. */
export async function batchFor(
  transaction: Transaction,
  caller: Caller,
  name: string | null,
  newBatchId: () => string,
): Promise<string> {
  if (name !== null) return batchIdOf(name, caller.sessionId);
  if (caller.sessionId === "") return newBatchId();
  return (
    (await transaction.batchOf(caller.sessionId, { messageId: caller.messageId })) ??
    (await transaction.batchOf(caller.sessionId, "live")) ??
    newBatchId()
  );
}

/** A batch that a parent named, which is unique to that parent. People share theirs. */
export function batchIdOf(name: string, parentSessionId: string): string {
  return parentSessionId === "" ? name : `${name}-${parentSessionId.slice(-8)}`;
}
