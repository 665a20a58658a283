/**
 * Calls that carry an id of the caller's choice, with their answers. The first call claims the id; a second one finds
 * the first.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import type { BoardRequest } from "./records.ts";

export async function claimRequest(
  kysely: Kysely<Schema>,
  claim: { operation: string; requestId: string; inputHash: string; at: number },
): Promise<BoardRequest | null> {
  const { operation, requestId, inputHash, at } = claim;
  const claimed = await kysely
    .insertInto("board_requests")
    .values({ operation, request_id: requestId, input_hash: inputHash, answer: null, at })
    .onConflict((conflict) => conflict.columns(["operation", "request_id"]).doNothing())
    .returning("at")
    .executeTakeFirst();
  if (claimed !== undefined) return null;
  const row = await kysely
    .selectFrom("board_requests")
    .select(["input_hash", "answer"])
    .where("operation", "=", operation)
    .where("request_id", "=", requestId)
    .executeTakeFirst();
  // The first call gave it up in between.
  if (row === undefined) return claimRequest(kysely, claim);
  return { inputHash: row.input_hash, answer: row.answer };
}

export async function answerRequest(
  kysely: Kysely<Schema>,
  operation: string,
  requestId: string,
  answer: string,
): Promise<void> {
  await kysely
    .updateTable("board_requests")
    .set({ answer })
    .where("operation", "=", operation)
    .where("request_id", "=", requestId)
    .execute();
}

export async function dropRequest(kysely: Kysely<Schema>, operation: string, requestId: string): Promise<void> {
  await kysely
    .deleteFrom("board_requests")
    .where("operation", "=", operation)
    .where("request_id", "=", requestId)
    .execute();
}

export async function pruneRequests(kysely: Kysely<Schema>, before: number): Promise<void> {
  await kysely.deleteFrom("board_requests").where("at", "<", before).execute();
}
