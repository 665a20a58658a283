/** What people see of notifications. Only reads, and bounded. */
import { type Kysely, sql } from "kysely";
import { clamp } from "../clamp.ts";
import type { RowOf, Schema } from "../schema.ts";
import type { NotificationCounts, NotificationRecords, NotificationState, StoredNotification } from "./records.ts";

const MOST_COUNTED = 1_000;

export async function readOne(kysely: Kysely<Schema>, id: string): Promise<StoredNotification | null> {
  const row = await kysely.selectFrom("notifications").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : notificationOf(row);
}

export async function readList(
  kysely: Kysely<Schema>,
  { state, channel, limit }: Parameters<NotificationRecords["list"]>[0],
): Promise<StoredNotification[]> {
  let rows = kysely.selectFrom("notifications").selectAll();
  if (state !== undefined) rows = rows.where("state", "=", state);
  if (channel !== undefined) rows = rows.where("channel", "=", channel);
  const page = rows
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(clamp(limit, 50, 200));
  return (await page.execute()).map(notificationOf);
}

export async function readCounts(kysely: Kysely<Schema>): Promise<Map<string, NotificationCounts>> {
  const rows = await kysely
    .selectFrom("notifications")
    .select(["channel", "state", sql<number>`count(*)`.as("count")])
    .where("state", "in", ["pending", "held", "failed"])
    .groupBy(["channel", "state"])
    .limit(MOST_COUNTED)
    .execute();
  const counts = new Map<string, NotificationCounts>();
  for (const { channel, state, count } of rows) {
    const own = counts.get(channel) ?? { pending: 0, held: 0, failed: 0 };
    counts.set(channel, { ...own, [state]: Number(count) });
  }
  return counts;
}

export function notificationOf(row: RowOf<"notifications">): StoredNotification {
  return {
    id: row.id,
    channel: row.channel,
    key: row.key,
    content: JSON.parse(row.content),
    isUrgent: row.urgent === 1,
    state: row.state as NotificationState,
    createdAt: row.created_at,
    dueAt: row.due_at,
    attempts: row.attempts,
    reason: row.reason,
    settledAt: row.settled_at,
    fence: row.fence,
  };
}
