/**
 * The records of notifications on a database. Every step compares the state that it starts from; writes about a channel
 * take its lock, so that two processes neither derive nor merge the same twice. Does not know what is sent, or where.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Dialect } from "../database.ts";
import { databaseTime } from "../database-time.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { kyselyPush } from "./kysely-push.ts";
import { notificationOf, readCounts, readList, readOne } from "./reads.ts";
import type {
  ChannelPosition,
  NewNotification,
  NotificationClaim,
  NotificationOutcome,
  NotificationRecords,
  StoredNotification,
} from "./records.ts";

const KEPT_MS = 7 * 86_400_000;
const MOST_MERGED = 500;

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyNotifications({
  dialect,
  read,
  write,
}: {
  dialect: Dialect;
  read: Run;
  write: Run;
}): NotificationRecords {
  const time = (now: number) => databaseTime(dialect, now);
  return {
    push: kyselyPush({ read, write }),
    open: (channel, start) => write((kysely) => openChannel(kysely, channel, start)),
    add: (channel, notifications, at) => write((kysely) => addAll(kysely, channel, notifications, at)),
    async claim(claim) {
      const { channel, now } = claim;
      // Usually nothing is due: that is found out without a write.
      const due = await read((kysely) => selectDue(kysely, channel, time(now)).executeTakeFirst());
      return due === undefined ? null : write((kysely) => claimDue(kysely, claim, time(now)));
    },
    settle: (id, fence, outcome, now) => write((kysely) => settle(kysely, id, fence, outcome, now)),
    mergeable: (channel, { now, most }) => read((kysely) => readMergeable(kysely, channel, time(now), most)),
    merge: (channel, parts, summary, now) => write((kysely) => merge(kysely, channel, parts, summary, now)),
    async release(channel, ids) {
      if (ids.length > 0) await write((kysely) => release(kysely, channel, ids));
    },
    expire: (what) => write((kysely) => expire(kysely, what)),
    nextDue: (channels) => read((kysely) => readNextDue(kysely, channels)),
    retry: (id, now) => write((kysely) => retry(kysely, id, now)),
    get: (id) => read((kysely) => readOne(kysely, id)),
    list: (query) => read((kysely) => readList(kysely, query)),
    counts: () => read(readCounts),
  };
}

async function openChannel(kysely: Kysely<Schema>, channel: string, start: ChannelPosition): Promise<ChannelPosition> {
  await kysely
    .insertInto("notification_channels")
    .values({ channel, ...start })
    .onConflict((conflict) => conflict.column("channel").doNothing())
    .execute();
  return (await readPosition(kysely, channel)) ?? start;
}

function readPosition(kysely: Kysely<Schema>, channel: string): Promise<ChannelPosition | undefined> {
  const rows = kysely.selectFrom("notification_channels").select(["seq", "since"]);
  return rows.where("channel", "=", channel).executeTakeFirst();
}

async function addAll(
  kysely: Kysely<Schema>,
  channel: string,
  notifications: readonly (NewNotification & { seq: number | null })[],
  { seq, now }: { seq: number; now: number },
): Promise<number> {
  await lock(kysely, "channel", channel);
  const read = (await readPosition(kysely, channel))?.seq ?? 0;
  const fresh = notifications.filter((each) => each.seq === null || each.seq > read);
  let added = 0;
  for (const notification of fresh) added += await insertOne(kysely, channel, notification, now);
  if (seq > read) {
    await kysely.updateTable("notification_channels").set({ seq }).where("channel", "=", channel).execute();
  }
  await kysely
    .deleteFrom("notifications")
    .where("settled_at", "<", now - KEPT_MS)
    .execute();
  return added;
}

async function insertOne(
  kysely: Kysely<Schema>,
  channel: string,
  { id, key, content, isUrgent, state, dueAt, seq }: NewNotification & { seq: number | null },
  now: number,
): Promise<number> {
  const { numInsertedOrUpdatedRows: inserted = 0n } = await kysely
    .insertInto("notifications")
    .values({
      id,
      channel,
      key,
      task_id: content.taskId,
      content: JSON.stringify(content),
      urgent: isUrgent ? 1 : 0,
      state,
      created_at: now,
      seq: seq ?? 0,
      due_at: dueAt,
      attempts: 0,
      claimed_by: null,
      claimed_until: null,
      fence: 0,
      reason: null,
      settled_at: null,
      merged_into: null,
    })
    .onConflict((conflict) => conflict.columns(["channel", "key"]).doNothing())
    .executeTakeFirstOrThrow();
  return Number(inserted);
}

/** Longer than any claim lasts: one that says so was made before the clock was set back. */
const LONGEST_CLAIM_MS = 300_000;

/** Pending, due, and claimed by nobody. */
function selectDue(kysely: Kysely<Schema>, channel: string, time: RawBuilder<number>) {
  return kysely
    .selectFrom("notifications")
    .selectAll()
    .where("state", "=", "pending")
    .where("channel", "=", channel)
    .where("due_at", "<=", time)
    .where(({ or, eb }) =>
      or([
        eb("claimed_until", "is", null),
        eb("claimed_until", "<=", time),
        eb("claimed_until", ">", sql<number>`${time} + ${LONGEST_CLAIM_MS}`),
      ]),
    )
    .orderBy("due_at")
    .orderBy("created_at")
    .orderBy("seq")
    .orderBy("id")
    .limit(1);
}

async function claimDue(
  kysely: Kysely<Schema>,
  { channel, by, leaseMs }: NotificationClaim,
  time: RawBuilder<number>,
): Promise<StoredNotification | null> {
  await lock(kysely, "channel", channel);
  const due = await selectDue(kysely, channel, time).executeTakeFirst();
  if (due === undefined) return null;
  const row = await kysely
    .updateTable("notifications")
    .set(({ eb }) => ({
      claimed_by: by,
      claimed_until: sql<number>`${time} + ${leaseMs}`,
      fence: eb("fence", "+", 1),
      attempts: eb("attempts", "+", 1),
    }))
    .where("id", "=", due.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return notificationOf(row);
}

async function settle(
  kysely: Kysely<Schema>,
  id: string,
  fence: number,
  outcome: NotificationOutcome,
  now: number,
): Promise<boolean> {
  const isOpen = outcome.state === "pending";
  const settled = await kysely
    .updateTable("notifications")
    .set({
      state: outcome.state,
      reason: outcome.state === "delivered" ? null : outcome.reason,
      settled_at: isOpen ? null : now,
      claimed_by: null,
      claimed_until: null,
      ...(isOpen && { due_at: outcome.dueAt }),
    })
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("state", "=", "pending")
    .returning("id")
    .execute();
  return settled.length > 0;
}

async function readMergeable(
  kysely: Kysely<Schema>,
  channel: string,
  time: RawBuilder<number>,
  most: number | null,
): Promise<StoredNotification[]> {
  const due = (state: "held" | "pending") =>
    kysely
      .selectFrom("notifications")
      .selectAll()
      .where("channel", "=", channel)
      .where("state", "=", state)
      .where("due_at", "<=", time)
      .orderBy("created_at")
      .orderBy("seq")
      .orderBy("id")
      .limit(MOST_MERGED);
  const held = await due("held").execute();
  if (held.length > 0 || most === null) return held.map(notificationOf);
  const untried = await due("pending").where("attempts", "=", 0).execute();
  return untried.length > most ? untried.map(notificationOf) : [];
}

async function merge(
  kysely: Kysely<Schema>,
  channel: string,
  parts: readonly StoredNotification[],
  summary: NewNotification,
  now: number,
): Promise<boolean> {
  await lock(kysely, "channel", channel);
  const ids = parts.map(({ id }) => id);
  const open = await kysely
    .selectFrom("notifications")
    .select("id")
    .where("id", "in", ids)
    .where("state", "in", ["held", "pending"])
    .where("attempts", "=", 0)
    .execute();
  if (open.length !== ids.length) return false;
  await insertOne(kysely, channel, { ...summary, seq: null }, now);
  await kysely
    .updateTable("notifications")
    .set({ state: "merged", merged_into: summary.id, settled_at: now })
    .where("id", "in", ids)
    .execute();
  return true;
}

async function release(kysely: Kysely<Schema>, channel: string, ids: readonly string[]): Promise<void> {
  await lock(kysely, "channel", channel);
  const held = kysely.updateTable("notifications").set({ state: "pending" }).where("state", "=", "held");
  await held.where("channel", "=", channel).where("id", "in", ids).execute();
}

/** One that is being sent is left to its sender. */
async function expire(
  kysely: Kysely<Schema>,
  { dueBefore, now, reason }: { dueBefore: number; now: number; reason: string },
): Promise<number> {
  const { numUpdatedRows } = await kysely
    .updateTable("notifications")
    .set({ state: "failed", settled_at: now, reason: sql<string>`coalesce(reason, ${reason})` })
    .where("state", "in", ["pending", "held"])
    .where("due_at", "<", dueBefore)
    .where(({ or, eb }) => or([eb("claimed_until", "is", null), eb("claimed_until", "<", now)]))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

async function readNextDue(kysely: Kysely<Schema>, channels: readonly string[]): Promise<number | null> {
  if (channels.length === 0) return null;
  const row = await kysely
    .selectFrom("notifications")
    .select(sql<number | null>`min(coalesce(claimed_until, due_at))`.as("at"))
    .where("state", "in", ["pending", "held"])
    .where("channel", "in", channels)
    .executeTakeFirst();
  return row?.at ?? null;
}

async function retry(kysely: Kysely<Schema>, id: string, now: number): Promise<StoredNotification | null> {
  await kysely
    .updateTable("notifications")
    .set({ state: "pending", attempts: 0, due_at: now, settled_at: null })
    .where("id", "=", id)
    .where("state", "=", "failed")
    .execute();
  return readOne(kysely, id);
}
