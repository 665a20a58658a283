/**
 * The feed: the events in commit order, so that a lower place never appears after a higher one was read. On SQLite the
 * place is `seq`, because writes are serialised there. On PostgreSQL writes commit in any order;
 * `postgres/feed-order.ts` gives each committed event its `place`, and those without one are not in the feed yet. Does
 * not notify.
 */
import { type Insertable, type Kysely, sql } from "kysely";
import { AsyncAgentsError } from "../model/errors.ts";
import type { TaskEvent, TaskEventType } from "../model/events.ts";
import { clamp } from "./clamp.ts";
import { preparedQuery } from "./compiled-query.ts";
import type { Schema } from "./schema.ts";
import { dialectOf } from "./sql/dialect.ts";
import type { FeedEntry } from "./store.ts";

/** The column that orders the feed. */
export function placeOf(kysely: Kysely<Schema>) {
  return dialectOf(kysely) === "postgres" ? "place" : "seq";
}

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
 * theirs is kept. Called before the new event is written.
 */
export async function dropProgress(kysely: Kysely<Schema>, taskId: string): Promise<void> {
  await deleteProgress(kysely, { taskId });
}

const deleteProgress = preparedQuery<{ taskId: string }>((kysely, { taskId }) =>
  kysely
    .deleteFrom("events")
    .where("task_id", "=", taskId)
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
  const ofTasks = entries.where("task_id", "in", taskIds).where(placeOf(kysely), "<", before);
  return (await ofTasks.execute()).map(entryOf);
}

const MOST_EVENTS = 500;

/** In the order in which they were written, which the index has for a task. */
export async function readEventsOf(
  kysely: Kysely<Schema>,
  taskId: string,
  types: readonly TaskEventType[],
): Promise<TaskEvent[]> {
  const rows = await kysely
    .selectFrom("events")
    .select("event")
    .where("task_id", "=", taskId)
    .where("type", "in", types)
    .orderBy("seq", "desc")
    .limit(MOST_EVENTS)
    .execute();
  return rows.map(({ event }) => JSON.parse(event) as TaskEvent);
}

function selectEntries(kysely: Kysely<Schema>, after: number, limit: number) {
  const place = placeOf(kysely);
  return kysely
    .selectFrom("events")
    .select([`${place} as seq`, "task_id", "event"])
    .where(place, ">", after)
    .orderBy(place)
    .limit(limit);
}

interface EntryRow {
  /** Null only for events that have no place yet, which are never selected. */
  seq: number | null;
  task_id: string;
  event: string;
}

function entryOf(row: EntryRow): FeedEntry {
  return { seq: Number(row.seq), taskId: row.task_id, event: JSON.parse(row.event) };
}

/** PostgreSQL only: whether there are events without a place. */
export async function readIsBehind(kysely: Kysely<Schema>): Promise<boolean> {
  return (await selectUnplaced(kysely, {})).length > 0;
}

const selectUnplaced = preparedQuery<object>((kysely) =>
  kysely.selectFrom("events").select(sql`1`.as("one")).where("place", "is", null).limit(sql.lit(1)),
);

export async function readLastSeq(kysely: Kysely<Schema>): Promise<number> {
  // The event in the last place may have been removed: the newest that is left could stand before it.
  const last =
    dialectOf(kysely) === "postgres"
      ? kysely.selectFrom("feed_end").select("place as seq")
      : kysely.selectFrom("sqlite_sequence").select("seq").where("name", "=", "events");
  return Number((await last.executeTakeFirst())?.seq ?? 0);
}
