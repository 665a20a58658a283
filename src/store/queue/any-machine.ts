/** Whether a queued run is for any machine: the part of the queue that rules about callers need. Only reads. */
import type { Kysely } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";

/** True if a run that has a remote waits, or would wait again if its runner died. */
export async function mayBeginAnywhere(kysely: Kysely<Schema>, taskId: string): Promise<boolean> {
  return (await selectAnywhere(kysely, { taskId })).length > 0;
}

const selectAnywhere = preparedQuery<{ taskId: string }, { task_id: string }>((kysely, { taskId }) =>
  kysely
    .selectFrom("queued_runs")
    .innerJoin("queue_lines", "queue_lines.line", "queued_runs.line")
    .select("queued_runs.task_id")
    .where("queued_runs.task_id", "=", taskId)
    .where("queue_lines.remote", "is not", null)
    .where(({ or, eb }) => or([eb("queued_runs.state", "<>", "begun"), eb("queued_runs.retries", ">", 0)])),
);
