/**
 * Writes attempts, the paths of their worktrees and their sessions. Removing a record removes its dependents. Each
 * write locks the work item, so that a task that begins or ends sees it as a whole.
 */
import type { Kysely, SelectQueryBuilder } from "kysely";
import type { Attempt, BoardSession } from "../../model/board.ts";
import type { Schema } from "../schema.ts";
import { lock, lockAll } from "../sql/lock.ts";
import type { AttemptRepoInput, BoardRecords } from "./records.ts";

export async function addAttempt(
  kysely: Kysely<Schema>,
  attempt: Attempt,
  repos: readonly AttemptRepoInput[],
): Promise<boolean> {
  // A repo that an attempt uses is not removed.
  const repoIds = repos.map(({ repoId }) => repoId);
  await lockAll(kysely, "repo", repoIds);
  await lock(kysely, "work_item", attempt.workItemId);
  const item = await kysely
    .selectFrom("work_items")
    .select("id")
    .where("id", "=", attempt.workItemId)
    .executeTakeFirst();
  if (item === undefined) return false;
  await kysely
    .insertInto("attempts")
    .values({
      id: attempt.id,
      work_item_id: attempt.workItemId,
      host: attempt.host,
      variant: attempt.variant,
      branch: attempt.branch,
      state: attempt.state,
      error: attempt.error,
      folder: attempt.folder,
      machine: attempt.machine,
      created_at: attempt.createdAt,
      updated_at: attempt.updatedAt,
    })
    .execute();
  const rows = repos.map(({ repoId, targetBranch }, position) => ({
    attempt_id: attempt.id,
    position,
    repo_id: repoId,
    target_branch: targetBranch,
    path: null,
    merged_commit: null,
  }));
  if (rows.length > 0) await kysely.insertInto("attempt_repos").values(rows).execute();
  return true;
}

export async function changeAttempt(
  kysely: Kysely<Schema>,
  id: string,
  { paths, ...fields }: Parameters<BoardRecords["changeAttempt"]>[1],
  at: number,
): Promise<void> {
  await lockItemOfAttempt(kysely, id);
  await kysely
    .updateTable("attempts")
    .set({ ...fields, updated_at: at })
    .where("id", "=", id)
    .execute();
  const own = kysely.updateTable("attempt_repos").where("attempt_id", "=", id);
  if (paths === null) await own.set({ path: null }).execute();
  for (const [repoId, path] of Object.entries(paths ?? {})) {
    await own.set({ path }).where("repo_id", "=", repoId).execute();
  }
}

/** Returns the work item; null if the attempt is gone. */
export async function lockItemOfAttempt(kysely: Kysely<Schema>, id: string): Promise<string | null> {
  const select = () => kysely.selectFrom("attempts").select("work_item_id").where("id", "=", id).executeTakeFirst();
  const known = await select();
  if (known === undefined) return null;
  await lock(kysely, "work_item", known.work_item_id);
  // It may have been removed until the lock was free.
  return (await select())?.work_item_id ?? null;
}

export async function deleteAttempt(kysely: Kysely<Schema>, id: string): Promise<void> {
  await lockItemOfAttempt(kysely, id);
  await removeAttemptsOf(kysely, kysely.selectFrom("attempts").select("id").where("id", "=", id));
}

/** `ids` is a query, so that any number of attempts is removed in one statement. */
export async function removeAttemptsOf(
  kysely: Kysely<Schema>,
  ids: SelectQueryBuilder<Schema, "attempts", { id: string }>,
): Promise<void> {
  const sessions = kysely.selectFrom("board_sessions").select("id").where("attempt_id", "in", ids);
  await kysely.deleteFrom("follow_ups").where("session_id", "in", sessions).execute();
  await kysely.deleteFrom("board_sessions").where("attempt_id", "in", ids).execute();
  await kysely.deleteFrom("attempt_repos").where("attempt_id", "in", ids).execute();
  // Those of attempts without a task, which nothing more is told about; those about tasks go with these.
  const withoutTask = ids.where(({ not, exists, selectFrom }) =>
    not(exists(selectFrom("tasks").select("tasks.id").whereRef("tasks.batch_id", "=", "attempts.id"))),
  );
  await kysely.deleteFrom("followers").where("task_id", "in", withoutTask).execute();
  await kysely.deleteFrom("notices").where("task_id", "in", ids).execute();
  await kysely.deleteFrom("attempts").where("id", "in", ids).execute();
}

export async function addSession(kysely: Kysely<Schema>, session: BoardSession): Promise<void> {
  const { id, attemptId, taskId, host, createdAt } = session;
  if ((await lockItemOfAttempt(kysely, attemptId)) === null) return;
  await kysely
    .updateTable("attempts")
    .set({ state: "ready", error: null, updated_at: createdAt })
    .where("id", "=", attemptId)
    .execute();
  await kysely
    .insertInto("board_sessions")
    .values({ id, attempt_id: attemptId, task_id: taskId, host, created_at: createdAt })
    .onConflict((conflict) => conflict.column("task_id").doNothing())
    .execute();
}
