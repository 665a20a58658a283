/**
 * The tasks that need a person: those that wait for an answer, failed ones whose end nobody has read, and those whose
 * work met conflicts when it was merged. All are read through partial indexes, so that the cost depends on how many
 * there are, not on how many tasks are stored.
 */
import { type Kysely, sql } from "kysely";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { together } from "../sql/together.ts";
import type { InboxQuery, InboxTasks } from "../store.ts";
import { type TaskRow, taskOf, taskRowColumns, withNewestRun } from "./rows.ts";

/** A longer text of a prompt, a result or an error is not needed to decide. */
const TEXT_CHARS = 4000;

export async function readInboxTasks(kysely: Kysely<Schema>, query: InboxQuery): Promise<InboxTasks> {
  const limit = clamp(query.limit, 100, 200);
  const { failedAfter } = query;
  const [waiting, failed, conflicts] = await together([
    selectWaiting(kysely, { limit }),
    selectUnread(kysely, { limit, failedAfter }),
    selectConflicts(kysely, { limit, failedAfter }),
  ]);
  return {
    waiting: waiting.map(taskOf),
    failed: failed.map(taskOf),
    conflicts: conflicts.map((row) => ({ task: taskOf(row), text: row.conflict, at: row.conflict_at })),
  };
}

/** Literals (not parameters) let both databases choose the partial indexes. */
const selectWaiting = preparedQuery<{ limit: number }, TaskRow>((kysely, { limit }) =>
  withNewestRun(kysely.selectFrom("tasks"))
    .select(taskRowColumns(TEXT_CHARS))
    .where(sql<boolean>`tasks.phase = 'waiting'`)
    .orderBy("tasks.started_at")
    .orderBy("tasks.created_seq")
    .limit(limit),
);

const selectUnread = preparedQuery<{ limit: number; failedAfter: number }, TaskRow>((kysely, { limit, failedAfter }) =>
  withNewestRun(kysely.selectFrom("tasks"))
    .select(taskRowColumns(TEXT_CHARS))
    .where(sql<boolean>`tasks.status = 'error' and tasks.parent_session_id = ''`)
    .where("tasks.result_retrieved_at", "is", null)
    .where("tasks.cleared_at", "is", null)
    .where("tasks.completed_at", ">", failedAfter)
    .orderBy("tasks.completed_at", "desc")
    .limit(limit),
);

interface ConflictRow extends TaskRow {
  conflict: string;
  conflict_at: number;
}

/** The tasks of an attempt have its id as the id of their batch. */
const selectConflicts = preparedQuery<{ limit: number; failedAfter: number }, ConflictRow>(
  (kysely, { limit, failedAfter }) =>
    withNewestRun(kysely.selectFrom("tasks"))
      .innerJoin("attempts", "attempts.id", "tasks.batch_id")
      .select(taskRowColumns(TEXT_CHARS))
      .select([sql<string>`attempts.conflict`.as("conflict"), sql<number>`attempts.conflict_at`.as("conflict_at")])
      .where(sql<boolean>`attempts.conflict is not null`)
      .where("attempts.conflict_at", ">", failedAfter)
      .where("tasks.created_seq", "=", (row) =>
        row
          .selectFrom("tasks as newest")
          .select(sql<number>`max(newest.created_seq)`.as("created_seq"))
          .where("newest.batch_id", "=", sql.ref<string>("attempts.id")),
      )
      .orderBy("attempts.conflict_at")
      .limit(limit),
);
