/**
 * The queues of follow-ups, one per session, first in, first out. A row leaves its queue in the transaction that begins
 * its run, or when it is cancelled, and in no other way. Does not decide when one may begin.
 */
import { type Kysely, sql } from "kysely";
import type { FollowUp } from "../../model/board.ts";
import { clamp } from "../clamp.ts";
import type { RowOf, Schema } from "../schema.ts";
import type { FollowUpQueue } from "./records.ts";

const COLUMNS = ["id", "session_id", "prompt", "variant", "queued_at", "after_run", "error"] as const;
const MOST_SESSIONS = 1_000;
const MOST_SHOWN = 200;

export async function queueFollowUp(
  kysely: Kysely<Schema>,
  followUp: Omit<FollowUp, "afterRun" | "error">,
): Promise<void> {
  const { id, sessionId, prompt, variant, queuedAt } = followUp;
  const task = await kysely
    .selectFrom("board_sessions")
    .innerJoin("tasks", "tasks.id", "board_sessions.task_id")
    .select(["tasks.live", "tasks.run"])
    .where("board_sessions.id", "=", sessionId)
    .executeTakeFirst();
  const after_run = task !== undefined && task.live === 0 ? task.run : null;
  await refuseFollowUp(kysely, sessionId, null, null);
  await kysely
    .insertInto("follow_ups")
    .values({ id, session_id: sessionId, prompt, variant, queued_at: queuedAt, after_run, error: null })
    .execute();
}

export async function readQueue(kysely: Kysely<Schema>, sessionId: string): Promise<FollowUpQueue> {
  const head = await selectHead(kysely, sessionId).executeTakeFirst();
  if (head === undefined) return { head: null, count: 0, afterRun: null };
  const totals = await kysely
    .selectFrom("follow_ups")
    .select([sql<number>`count(*)`.as("count"), sql<number | null>`max(after_run)`.as("after_run")])
    .where("session_id", "=", sessionId)
    .executeTakeFirstOrThrow();
  return { head: followUpOf(head), count: Number(totals.count), afterRun: totals.after_run };
}

function selectHead(kysely: Kysely<Schema>, sessionId: string) {
  return kysely.selectFrom("follow_ups").select(COLUMNS).where("session_id", "=", sessionId).orderBy("number").limit(1);
}

export async function readFollowUps(kysely: Kysely<Schema>, sessionId: string, limit: number): Promise<FollowUp[]> {
  const rows = await selectHead(kysely, sessionId)
    .limit(clamp(limit, 50, MOST_SHOWN))
    .execute();
  return rows.map(followUpOf);
}

/** Returns whether it was in the queue. */
export async function dequeueFollowUp(kysely: Kysely<Schema>, id: string): Promise<boolean> {
  const taken = await kysely.deleteFrom("follow_ups").where("id", "=", id).returning("id").executeTakeFirst();
  return taken !== undefined;
}

export async function cancelFollowUps(kysely: Kysely<Schema>, sessionId: string): Promise<number> {
  const gone = await kysely.deleteFrom("follow_ups").where("session_id", "=", sessionId).returning("id").execute();
  return gone.length;
}

/** Without an id, for the whole queue. */
export async function refuseFollowUp(
  kysely: Kysely<Schema>,
  sessionId: string,
  id: string | null,
  error: string | null,
): Promise<void> {
  let rows = kysely.updateTable("follow_ups").set({ error }).where("session_id", "=", sessionId);
  rows = id === null ? rows.where("error", "is not", null) : rows.where("id", "=", id);
  await rows.execute();
}

export async function readQueuedSessions(kysely: Kysely<Schema>): Promise<string[]> {
  const rows = await kysely.selectFrom("follow_ups").select("session_id").distinct().limit(MOST_SESSIONS).execute();
  return rows.map((row) => row.session_id);
}

function followUpOf(row: Pick<RowOf<"follow_ups">, (typeof COLUMNS)[number]>): FollowUp {
  return {
    id: row.id,
    sessionId: row.session_id,
    prompt: row.prompt,
    variant: row.variant,
    queuedAt: row.queued_at,
    afterRun: row.after_run,
    error: row.error,
  };
}
