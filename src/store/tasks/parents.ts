/**
 * Parents: sessions that have launched tasks, with the instance that saw their last message. New information replaces
 * old. Does not know whether the session still exists.
 */
import type { Kysely } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import type { Parent } from "../store.ts";

const COLUMNS = ["session_id", "handler", "agent", "model", "variant", "seen_at", "host", "machine"] as const;

export async function writeParent(kysely: Kysely<Schema>, parent: Parent): Promise<void> {
  const { session_id, ...rest } = parentRow(parent);
  await kysely
    .insertInto("parents")
    .values({ session_id, ...rest })
    .onConflict((conflict) => conflict.column("session_id").doUpdateSet(rest))
    .execute();
}

export async function readParent(kysely: Kysely<Schema>, sessionId: string): Promise<Parent | null> {
  const [row] = await selectParent(kysely, { sessionId });
  return row === undefined ? null : parentOf(row);
}

const selectParent = preparedQuery<{ sessionId: string }, RowOf<"parents">>((kysely, { sessionId }) =>
  kysely.selectFrom("parents").select(COLUMNS).where("session_id", "=", sessionId),
);

function parentRow(parent: Parent): RowOf<"parents"> {
  return {
    session_id: parent.sessionId,
    handler: parent.handler,
    agent: parent.agent,
    model: parent.model,
    variant: parent.variant,
    seen_at: parent.seenAt,
    host: parent.host,
    machine: parent.machine,
  };
}

function parentOf(row: RowOf<"parents">): Parent {
  return {
    sessionId: row.session_id,
    handler: row.handler,
    agent: row.agent,
    model: row.model,
    variant: row.variant,
    seenAt: row.seen_at,
    host: row.host,
    machine: row.machine,
  };
}
