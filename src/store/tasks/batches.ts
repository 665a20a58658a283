/**
 * Reads batches: a parent's newest batch, and when the runs of a batch began and ended. A batch is only an id that
 * tasks share; nothing else is stored about it.
 */
import { type Kysely, sql } from "kysely";
import type { Run } from "../../model/task.ts";
import { clamp } from "../clamp.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import type { RunSpan } from "../store.ts";

const MOST_SPANS = 5_000;
const SPAN_CHARACTERS = 2_048;

/** Locks the parent: launches of one message at the same time get one batch. */
export async function lockBatchOf(
  kysely: Kysely<Schema>,
  parentSessionId: string,
  among: { messageId: string } | "live",
): Promise<string | null> {
  let launches = kysely.selectFrom("launches").select("batch_id").where("parent_session_id", "=", parentSessionId);
  if (among !== "live") launches = launches.where("parent_message_id", "=", among.messageId);
  const own = kysely.selectFrom("tasks").select("batch_id").where("parent_session_id", "=", parentSessionId);
  const tasks =
    among === "live" ? own.where(sql<boolean>`live = 1`) : own.where("parent_message_id", "=", among.messageId);
  const [, launch, task] = await together([
    lock(kysely, "parent", parentSessionId),
    launches.orderBy("at", "desc").limit(1).executeTakeFirst(),
    tasks.orderBy("started_at", "desc").orderBy("created_seq", "desc").limit(1).executeTakeFirst(),
  ]);
  // A launch without a task is newer than every task, and counts as live.
  return launch?.batch_id ?? task?.batch_id ?? null;
}

export async function readBatchRuns(kysely: Kysely<Schema>, batchId: string, limit?: number): Promise<RunSpan[]> {
  const rows = await selectBatchRuns(kysely, batchId, limit).execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    number: row.number,
    prompt: row.prompt,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome as Run["outcome"],
    error: row.error,
  }));
}

function selectBatchRuns(kysely: Kysely<Schema>, batchId: string, limit?: number) {
  const beginning = (column: string) => sql`substr(${sql.ref(column)}, 1, ${sql.lit(SPAN_CHARACTERS)})`;
  return kysely
    .selectFrom("tasks")
    .crossJoin("runs")
    .whereRef("runs.task_id", "=", "tasks.id")
    .where("tasks.batch_id", "=", batchId)
    .select(["runs.task_id", "runs.number", "runs.started_at", "runs.ended_at", "runs.outcome"])
    .select([
      beginning("runs.prompt").$castTo<string>().as("prompt"),
      beginning("runs.error").$castTo<string | null>().as("error"),
    ])
    .orderBy("runs.started_at")
    .orderBy("tasks.created_seq")
    .orderBy("runs.number")
    .limit(clamp(limit, MOST_SPANS, MOST_SPANS));
}
