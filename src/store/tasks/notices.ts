/**
 * Notices: written once per task, run and topic in the transaction of the event that caused them, claimed as one group
 * per parent, settled once. Sends nothing, and does not judge whether a sender is alive.
 */
import { type Kysely, sql } from "kysely";
import type { Task } from "../../model/task.ts";
import type { NoticeIntent } from "../../model/transition.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import { lockUnregistered } from "../instances.ts";
import type { RowOf, Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import type { Notice, NoticeClaim, NoticeSender, NoticeState, Store } from "../store.ts";

type Reclaim = Parameters<Store["reclaimNotices"]>[1];
type Outcome = Parameters<Store["settleNotices"]>[2];

const UNSETTLED = sql<boolean>`state in ('pending', 'sending')`;

const COLUMNS = [
  "id",
  "task_id",
  "run",
  "kind",
  "topic",
  "parent_session_id",
  "created_at",
  "batch_ended",
  "batch_total",
  "batch_live",
  "state",
  "message_id",
  "sender",
  "attempts",
  "reason",
  "settled_at",
  "next_try_at",
  "fence",
  "wake",
] as const;

/**
 * Writes nothing if the run already has a notice on this topic. The task is stored as it is now. Two tasks of a batch
 * that end at once count one after the other, so that one of them is the last.
 */
export async function addNotice(kysely: Kysely<Schema>, task: Task, intent: NoticeIntent, at: number): Promise<void> {
  await together([lock(kysely, "parent", task.parentSessionId), addCountedNotice(kysely, task, intent, at)]);
}

/**
 * For a transaction that holds the parent's lock. If it ends several tasks of the batch, it counts them one after the
 * other: `endLater` are those that count after this one.
 */
export async function addCountedNotice(
  kysely: Kysely<Schema>,
  { id, run, batchId, parentSessionId }: Task,
  intent: NoticeIntent,
  at: number,
  endLater = 0,
): Promise<void> {
  const told = { at, to: parentSessionId, ...intent };
  await insertNotice(kysely, { id, run: run.number, batchId, parentSessionId, endLater, ...told });
}

/** For somebody else than the task's parent, about one of its runs, or about an attempt that has no task. */
export async function addNoticeTo(
  kysely: Kysely<Schema>,
  { id, batchId, parentSessionId }: Pick<Task, "id" | "batchId" | "parentSessionId">,
  told: NoticeIntent & { run: number; at: number; to: string },
): Promise<void> {
  await insertNotice(kysely, { id, batchId, parentSessionId, endLater: 0, ...told });
}

interface NewNotice extends NoticeIntent {
  id: string;
  run: number;
  at: number;
  batchId: string;
  parentSessionId: string;
  /** Who is told: the parent, or somebody else. */
  to: string;
  endLater: number;
}

const insertNotice = preparedQuery<NewNotice>((kysely, notice) => {
  const { id, run, kind, topic, wake, at, batchId, parentSessionId, to, endLater } = notice;
  const live = sql<number>`(coalesce(sum(live), 0) + cast(${endLater} as integer))`;
  return kysely
    .insertInto("notices")
    .columns([
      "task_id",
      "run",
      "kind",
      "topic",
      "parent_session_id",
      "created_at",
      "batch_total",
      "batch_live",
      "batch_ended",
      "state",
      "attempts",
      "wake",
    ])
    .expression((row) =>
      row
        .selectFrom("tasks")
        .select([
          sql<string>`cast(${id} as text)`.as("task_id"),
          sql<number>`cast(${run} as integer)`.as("run"),
          sql<string>`cast(${kind} as text)`.as("kind"),
          sql<string>`cast(${topic} as text)`.as("topic"),
          sql<string>`cast(${to} as text)`.as("parent_session_id"),
          sql<number>`cast(${at} as double precision)`.as("created_at"),
          sql<number>`count(*)`.as("batch_total"),
          live.as("batch_live"),
          sql<number>`count(*) - ${live}`.as("batch_ended"),
          sql.lit("pending").as("state"),
          sql.lit(0).as("attempts"),
          sql<string>`cast(${wake} as text)`.as("wake"),
        ])
        .where("batch_id", "=", batchId)
        .where("parent_session_id", "=", parentSessionId),
    )
    .onConflict((conflict) => conflict.columns(["task_id", "run", "topic"]).doNothing());
});

export async function readNotices(
  kysely: Kysely<Schema>,
  parentSessionId: string,
  state: NoticeState,
  limit?: number,
): Promise<Notice[]> {
  const rows = await selectNotices(kysely, { parentSessionId, state, limit: clamp(limit, 100, 1_000) });
  return rows.map(noticeOf);
}

const selectNotices = preparedQuery<{ parentSessionId: string; state: NoticeState; limit: number }, RowOf<"notices">>(
  (kysely, { parentSessionId, state, limit }) =>
    kysely
      .selectFrom("notices")
      .select(COLUMNS)
      .where("parent_session_id", "=", parentSessionId)
      .where("state", "=", state)
      .orderBy("id")
      .limit(limit),
);

export async function readParentsWithNotices(kysely: Kysely<Schema>, after?: string): Promise<string[]> {
  return (await selectParents(kysely, { after: after ?? "" })).map((row) => row.parent_session_id);
}

const selectParents = preparedQuery<{ after: string }, { parent_session_id: string }>((kysely, { after }) =>
  kysely
    .selectFrom("notices")
    .select("parent_session_id")
    .distinct()
    .where(UNSETTLED)
    .where("parent_session_id", ">", after)
    .orderBy("parent_session_id")
    .limit(200),
);

/** Pending notices, without those that wait for a task of their batch that is live or being launched. */
const selectDue = preparedQuery<{ parentSessionId: string }, RowOf<"notices">>((kysely, { parentSessionId }) =>
  kysely
    .selectFrom("notices")
    .innerJoin("tasks as told", "told.id", "notices.task_id")
    .select(COLUMNS.map((column) => `notices.${column}` as const))
    .where("notices.parent_session_id", "=", parentSessionId)
    .where("notices.state", "=", "pending")
    .where((row) => {
      const live = row
        .selectFrom("tasks")
        .select("tasks.batch_id")
        .where(sql<boolean>`tasks.live = 1`)
        .where("tasks.parent_session_id", "=", parentSessionId);
      const launched = row
        .selectFrom("launches")
        .select("launches.batch_id")
        .where("launches.parent_session_id", "=", parentSessionId);
      const isOver = row.and([row("told.batch_id", "not in", live), row("told.batch_id", "not in", launched)]);
      return row.or([row("notices.wake", "<>", "batch"), isOver]);
    })
    .orderBy("notices.id")
    .limit(1_000),
);

export async function claimNotices(
  kysely: Kysely<Schema>,
  parentSessionId: string,
  claim: NoticeClaim,
): Promise<Notice[]> {
  const { messageId, sender, limit, aloneAfter = Number.POSITIVE_INFINITY, freshOnly = false, counts = true } = claim;
  const [, sending, due] = await together([
    lock(kysely, "parent", parentSessionId),
    readNotices(kysely, parentSessionId, "sending", 1),
    selectDue(kysely, { parentSessionId }),
  ]);
  if (sending.length > 0) return [];
  const pending = due.map(noticeOf);
  const fresh = pending.filter((notice) => notice.attempts < aloneAfter).slice(0, limit);
  const [alone] = pending.toSorted((one, other) => one.attempts - other.attempts);
  const group = fresh.length > 0 ? fresh : alone === undefined || freshOnly ? [] : [alone];
  if (group.length === 0) return [];
  // One for the whole group.
  const fence = 1 + Math.max(...group.map((notice) => notice.fence));
  const claimed = await kysely
    .updateTable("notices")
    .set((row) => ({ state: "sending", message_id: messageId, sender, attempts: row("attempts", "+", counts ? 1 : 0) }))
    .set({ fence })
    .where(
      "id",
      "in",
      group.map((notice) => notice.id),
    )
    // One that was dropped meanwhile stays dropped.
    .where("state", "=", "pending")
    .returning(COLUMNS)
    .execute();
  return inOrder(claimed);
}

export async function reclaimNotices(kysely: Kysely<Schema>, messageId: string, claim: Reclaim): Promise<Notice[]> {
  const { sender, from, counts } = claim;
  // Nobody takes over what a registered instance sends.
  if (from.sender !== null && from.sender !== sender && !(await lockUnregistered(kysely, from.sender))) return [];
  const rows = await kysely
    .updateTable("notices")
    .set((row) => ({ sender, fence: from.fence + 1, attempts: row("attempts", "+", counts ? 1 : 0) }))
    .where("message_id", "=", messageId)
    .where("state", "=", "sending")
    .where("sender", from.sender === null ? "is" : "=", from.sender)
    .where("fence", "=", from.fence)
    .returning(COLUMNS)
    .execute();
  return inOrder(rows);
}

function inOrder(rows: readonly RowOf<"notices">[]): Notice[] {
  return rows.map(noticeOf).toSorted((one, other) => one.id - other.id);
}

export async function readLastNotice(kysely: Kysely<Schema>, taskId: string): Promise<Notice | null> {
  const [row] = await selectLastNotice(kysely, { taskId });
  return row === undefined ? null : noticeOf(row);
}

const selectLastNotice = preparedQuery<{ taskId: string }, RowOf<"notices">>((kysely, { taskId }) =>
  kysely.selectFrom("notices").select(COLUMNS).where("task_id", "=", taskId).orderBy("id", "desc").limit(1),
);

export async function reopenNotices(kysely: Kysely<Schema>, taskId: string): Promise<number> {
  const open = { attempts: 0, next_try_at: null, settled_at: null };
  const dropped = await kysely
    .updateTable("notices")
    .set({ ...open, state: "pending", message_id: null, sender: null })
    .where("task_id", "=", taskId)
    .where("state", "in", ["dropped", "pending"])
    .executeTakeFirst();
  const doubtful = await kysely
    .updateTable("notices")
    .set(open)
    .where("task_id", "=", taskId)
    .where("state", "=", "sending")
    .executeTakeFirst();
  return Number(dropped.numUpdatedRows + doubtful.numUpdatedRows);
}

/** False if the group has another sender by now, or was claimed again. */
export async function settleNotices(
  kysely: Kysely<Schema>,
  messageId: string,
  { sender, fence }: NoticeSender,
  outcome: Outcome,
): Promise<boolean> {
  const { state, reason, at, nextTryAt = null } = outcome;
  const isOver = state === "delivered" || state === "dropped";
  const settled = await kysely
    .updateTable("notices")
    .set({ state, reason, settled_at: isOver ? at : null, next_try_at: isOver ? null : nextTryAt })
    .$if(!isOver, (query) => query.set({ sender: null }))
    .$if(state === "pending", (query) => query.set({ message_id: null }))
    .where("message_id", "=", messageId)
    .where("state", "=", "sending")
    .where("sender", sender === null ? "is" : "=", sender)
    .where("fence", "=", fence)
    .returning("id")
    .execute();
  return settled.length > 0;
}

export async function dropNotices(
  kysely: Kysely<Schema>,
  parentSessionId: string,
  reason: string,
  at: number,
): Promise<void> {
  await kysely
    .updateTable("notices")
    .set({ state: "dropped", reason, settled_at: at, next_try_at: null })
    .where("parent_session_id", "=", parentSessionId)
    .where((row) => row.or([row("state", "=", "pending"), row("state", "=", "sending").and("sender", "is", null)]))
    .execute();
}

export function noticeOf(row: RowOf<"notices">): Notice {
  return {
    id: Number(row.id),
    taskId: row.task_id,
    run: row.run,
    kind: row.kind as Notice["kind"],
    topic: row.topic,
    parentSessionId: row.parent_session_id,
    createdAt: row.created_at,
    batchEnded: row.batch_ended,
    batchTotal: row.batch_total,
    batchLive: row.batch_live,
    state: row.state as NoticeState,
    messageId: row.message_id,
    sender: row.sender,
    attempts: row.attempts,
    reason: row.reason,
    settledAt: row.settled_at,
    nextTryAt: row.next_try_at,
    fence: row.fence,
    wake: row.wake as Notice["wake"],
  };
}
