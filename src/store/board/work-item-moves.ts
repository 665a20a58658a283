/**
 * Moves the work item of an attempt when a task of that attempt begins or ends a run, or when the attempt is merged, in
 * the same transaction. For other tasks this costs one lookup by key, only when they begin or end. The model decides
 * the new status.
 */
import type { Kysely } from "kysely";
import { attemptIdOf, statusAfterRun, type WorkItemStatus } from "../../model/board.ts";
import { isLive, type Task } from "../../model/task.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { raiseBoardVersion } from "./version.ts";
import { changeWorkItem } from "./work-items.ts";

export async function moveWorkItem(
  kysely: Kysely<Schema>,
  before: Task | null,
  after: Task,
  at: number,
): Promise<void> {
  const begins = isLive(after.status);
  if (before !== null && isLive(before.status) === begins) return;
  const attemptId = attemptIdOf(after);
  const [item] = await selectItemOf(kysely, { attemptId });
  if (item === undefined) return;
  const run = begins ? { begins } : { begins, live: await hasLiveTask(kysely, item.id) };
  await kysely
    .updateTable("work_items")
    .set({ status: statusAfterRun(item.status as WorkItemStatus, run), updated_at: at })
    .where("id", "=", item.id)
    .execute();
  // An attempt that is worked on again no longer counts as merged.
  const state = begins && item.state === "merged" ? "ready" : item.state;
  await kysely.updateTable("attempts").set({ state, updated_at: at }).where("id", "=", attemptId).execute();
  await raiseBoardVersion(kysely);
}

const selectItemOf = preparedQuery<{ attemptId: string }, { id: string; status: string; state: string }>(
  (kysely, { attemptId }) =>
    kysely
      .selectFrom("attempts")
      .innerJoin("work_items", "work_items.id", "attempts.work_item_id")
      .select(["work_items.id", "work_items.status", "attempts.state"])
      .where("attempts.id", "=", attemptId),
);

export async function markMerged(
  kysely: Kysely<Schema>,
  id: string,
  commits: Record<string, string>,
  at: number,
): Promise<void> {
  const attempt = await kysely
    .updateTable("attempts")
    .set({ state: "merged", error: null, updated_at: at })
    .where("id", "=", id)
    .returning("work_item_id")
    .executeTakeFirst();
  if (attempt === undefined) return;
  await changeWorkItem(kysely, attempt.work_item_id, { status: "done" }, at);
  for (const [repoId, commit] of Object.entries(commits)) {
    await kysely
      .updateTable("attempt_repos")
      .set({ merged_commit: commit })
      .where("attempt_id", "=", id)
      .where("repo_id", "=", repoId)
      .execute();
  }
}

async function hasLiveTask(kysely: Kysely<Schema>, workItemId: string): Promise<boolean> {
  const row = await kysely
    .selectFrom("attempts")
    .innerJoin("tasks", "tasks.batch_id", "attempts.id")
    .select("tasks.id")
    .where("attempts.work_item_id", "=", workItemId)
    .where("tasks.live", "=", 1)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
