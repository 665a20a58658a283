/**
 * Moves the work item of an attempt when a task of that attempt begins or ends a run, or when the attempt is merged, in
 * the same transaction. For other tasks this costs one lookup by key, only when they begin or end. The model decides
 * the new status.
 */
import { type Kysely, sql } from "kysely";
import { attemptIdOf, statusAfterRun, type WorkItemStatus } from "../../model/board.ts";
import type { TaskEvent, TaskEventType } from "../../model/events.ts";
import { isLive, type Task } from "../../model/task.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";
import { lockOf } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { storableText } from "../storable.ts";
import { lockItemOfAttempt } from "./attempt-writes.ts";
import { raiseBoardVersion } from "./version.ts";
import { changeWorkItem } from "./work-items.ts";

const BEGINS_OR_ENDS: ReadonlySet<TaskEventType> = new Set<TaskEventType>([
  "task.created",
  "task.imported",
  "task.resumed",
  "run.completed",
  "run.failed",
  "run.cancelled",
]);

/** A work item that the beginning or end of a task's run may move. */
interface MovableItem {
  id: string;
  status: string;
  attempt_id: string;
  state: string;
  /** Whether another task of it is live: 0 or 1. */
  others_live: number;
}

/** Whether the event may move a work item. */
export function beginsOrEnds({ type }: TaskEvent): boolean {
  return BEGINS_OR_ENDS.has(type);
}

/** Locks it for `moveWorkItem`. Null if the event moves none. */
export async function lockMovedItem(
  kysely: Kysely<Schema>,
  taskId: string,
  event: TaskEvent,
): Promise<MovableItem | null> {
  if (!beginsOrEnds(event)) return null;
  const newAttemptId = "task" in event ? attemptIdOf(event.task) : "";
  const [, [item]] = await together([
    lockItemOf(kysely, taskId, newAttemptId),
    selectItemOf(kysely, { taskId, newAttemptId }),
  ]);
  return item ?? null;
}

async function lockItemOf(kysely: Kysely<Schema>, taskId: string, newAttemptId: string): Promise<void> {
  if (dialectOf(kysely) === "postgres") await takeItemLock(kysely, { taskId, newAttemptId });
}

interface ItemKey {
  taskId: string;
  /** The attempt of a task that is not stored yet. */
  newAttemptId: string;
}

const takeItemLock = preparedQuery<ItemKey>((kysely, key) =>
  kysely
    .selectFrom("attempts")
    .select(lockOf("work_item", sql.ref("work_item_id")).as("locked"))
    .where("id", "=", attemptIdFor(kysely, key)),
);

const selectItemOf = preparedQuery<ItemKey, MovableItem>((kysely, key) =>
  kysely
    .selectFrom("attempts")
    .innerJoin("work_items", "work_items.id", "attempts.work_item_id")
    .select(["work_items.id", "work_items.status", "attempts.id as attempt_id", "attempts.state"])
    .select(({ exists, selectFrom }) => {
      const others = selectFrom("attempts as own")
        .innerJoin("tasks", "tasks.batch_id", "own.id")
        .select("tasks.id")
        .where("own.work_item_id", "=", sql.ref<string>("work_items.id"))
        .where("tasks.live", "=", 1)
        .where("tasks.id", "!=", key.taskId);
      return sql<number>`case when ${exists(others)} then 1 else 0 end`.as("others_live");
    })
    .where("attempts.id", "=", attemptIdFor(kysely, key)),
);

function attemptIdFor(kysely: Kysely<Schema>, { taskId, newAttemptId }: ItemKey) {
  const stored = kysely.selectFrom("tasks").select("batch_id").where("tasks.id", "=", taskId);
  return sql<string>`coalesce(${stored}, ${newAttemptId})`;
}

export async function moveWorkItem(
  kysely: Kysely<Schema>,
  item: MovableItem,
  { before, after, at }: { before: Task | null; after: Task; at: number },
): Promise<void> {
  const begins = isLive(after.status);
  if (before !== null && isLive(before.status) === begins) return;
  const run = begins ? { begins } : { begins, live: item.others_live === 1 };
  const status = statusAfterRun(item.status as WorkItemStatus, run);
  // An attempt that is worked on again no longer counts as merged.
  const state = begins && item.state === "merged" ? "ready" : item.state;
  const settled = begins ? { conflict: null, conflict_at: null } : {};
  await together([
    kysely.updateTable("work_items").set({ status, updated_at: at }).where("id", "=", item.id).execute(),
    kysely
      .updateTable("attempts")
      .set({ state, updated_at: at, ...settled })
      .where("id", "=", item.attempt_id)
      .execute(),
    raiseBoardVersion(kysely),
  ]);
}

export async function noteConflict(kysely: Kysely<Schema>, id: string, text: string, at: number): Promise<void> {
  await kysely
    .updateTable("attempts")
    .set({ conflict: storableText(text), conflict_at: at, updated_at: at })
    .where("id", "=", id)
    .execute();
}

export async function markMerged(
  kysely: Kysely<Schema>,
  id: string,
  commits: Record<string, string>,
  at: number,
): Promise<void> {
  const itemId = await lockItemOfAttempt(kysely, id);
  if (itemId === null) return;
  await kysely
    .updateTable("attempts")
    .set({ state: "merged", error: null, updated_at: at, conflict: null, conflict_at: null })
    .where("id", "=", id)
    .execute();
  await changeWorkItem(kysely, itemId, { status: "done" }, at);
  for (const [repoId, commit] of Object.entries(commits)) {
    await kysely
      .updateTable("attempt_repos")
      .set({ merged_commit: commit })
      .where("attempt_id", "=", id)
      .where("repo_id", "=", repoId)
      .execute();
  }
}
