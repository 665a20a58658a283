/**
 * The feed: the events in commit order. The driver serialises writes, so a lower seq never appears after a higher one
 * was read. Does not notify: the driver's change signal does.
 */
import { type Insertable, type Kysely, sql } from "kysely";
import { AsyncAgentsError } from "../model/errors.ts";
import { clamp } from "./clamp.ts";
import { preparedQuery } from "./compiled-query.ts";
import type { Schema } from "./schema.ts";
import type { FeedEntry } from "./store.ts";

export async function appendEvent(
  kysely: Kysely<Schema>,
  taskId: string,
  type: string,
  event: string,
): Promise<number> {
  const [row] = await insertEvent(kysely, { task_id: taskId, type, event });
  if (row === undefined) throw new AsyncAgentsError("internal", `The event ${type} of task ${taskId} got no number.`);
  return Number(row.seq);
}

const insertEvent = preparedQuery<Insertable<Schema["events"]>, { seq: number }>((kysely, row) =>
  kysely.insertInto("events").values(row).returning("seq"),
);

/**
 * Each progress event is complete, so earlier ones of the same run are redundant: a task that works for hours does not
 * fill the feed, and replaying the rest gives the same task. A resume builds on the progress of the runs before it, so
 * theirs is kept.
 */
export async function dropEarlierProgress(kysely: Kysely<Schema>, taskId: string, seq: number): Promise<void> {
  await deleteProgress(kysely, { taskId, seq });
}

const deleteProgress = preparedQuery<{ taskId: string; seq: number }>((kysely, { taskId, seq }) =>
  kysely
    .deleteFrom("events")
    .where("task_id", "=", taskId)
    .where("seq", "<", seq)
    .where("type", "=", "run.progressed")
    .where("seq", ">", (outer) =>
      outer
        .selectFrom("events as resumes")
        .select(sql<number>`coalesce(max(resumes.seq), 0)`.as("seq"))
        .where("resumes.task_id", "=", taskId)
        .where("resumes.type", "=", "task.resumed"),
    ),
);

export async function readFeed(kysely: Kysely<Schema>, after: number, limit?: number): Promise<FeedEntry[]> {
  return (await selectPage(kysely, { after, limit: clamp(limit, 500, 5_000) })).map(entryOf);
}

/** Every process reads it after every change. */
const selectPage = preparedQuery<{ after: number; limit: number }, EntryRow>((kysely, { after, limit }) =>
  selectEntries(kysely, after, limit),
);

export async function readEntriesOf(
  kysely: Kysely<Schema>,
  taskIds: readonly string[],
  { after, before }: { after: number; before: number },
  limit?: number,
): Promise<FeedEntry[]> {
  if (taskIds.length === 0) return [];
  const entries = selectEntries(kysely, after, clamp(limit, 500, 5_000));
  const ofTasks = entries.where("task_id", "in", taskIds).where("seq", "<", before);
  return (await ofTasks.execute()).map(entryOf);
}

function selectEntries(kysely: Kysely<Schema>, after: number, limit: number) {
  return kysely
    .selectFrom("events")
    .select(["seq", "task_id", "event"])
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(limit);
}

interface EntryRow {
  seq: number;
  task_id: string;
  event: string;
}

function entryOf(row: EntryRow): FeedEntry {
  return { seq: Number(row.seq), taskId: row.task_id, event: JSON.parse(row.event) };
}

export async function readLastSeq(kysely: Kysely<Schema>): Promise<number> {
  const row = await kysely.selectFrom("events").select(sql<number | null>`max(seq)`.as("seq")).executeTakeFirst();
  return Number(row?.seq ?? 0);
}
