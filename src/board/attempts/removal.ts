/**
 * Removes attempts and their worktrees: a single one, or all attempts of a work item. Invariant: everything is
 * checked before anything is removed, so a rejected call has changed nothing; unmerged work is removed only with
 * force.
 */
import { dirname } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { isLive } from "../../model/task.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import { checkRemoval, removeWorktrees } from "../../worktree/remove.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { notFound } from "../not-found.ts";
import type { AttemptStart } from "./attempt-start.ts";
import { assertIdle, findAttempt, untilStopped } from "./attempts.ts";

const PAGE = 200;

export async function removeAttempt(
  parts: BoardParts,
  start: AttemptStart,
  { attempt_id, force = false }: Input<"remove_attempt">,
): Promise<OperationOutput<"remove_attempt">> {
  if (force) await start.settled(attempt_id);
  await parts.oneAtATime.run(attempt_id, async () => {
    await assertRemovable(parts, attempt_id, force);
    await removeOne(parts, attempt_id, force);
  });
  return { removed_attempt_id: attempt_id };
}

export async function deleteTask(
  parts: BoardParts,
  start: AttemptStart,
  { task_id, force = false }: Input<"delete_task">,
): Promise<OperationOutput<"delete_task">> {
  const { store, oneAtATime } = parts;
  if ((await store.board.workItem(task_id)) === null) throw notFound("task", task_id);
  await oneAtATime.run(task_id, async () => {
    const ids = await attemptIds(parts, task_id);
    if (force) await Promise.all(ids.map((id) => start.settled(id)));
    for (const id of ids) await assertRemovable(parts, id, force);
    for (const id of ids) await oneAtATime.run(id, () => removeOne(parts, id, force));
    await store.board.removeWorkItem(task_id);
  });
  return { deleted_task_id: task_id };
}

/** Closes what is open in the folder of an attempt. Rejects if a task is live there. */
type Vacate = () => Promise<void>;

/** Does work on the worktrees of an attempt that nothing may begin in meanwhile. */
export function whileClosed<T>(
  { folders }: BoardParts,
  { folder }: AttemptRecord,
  { force }: { force: boolean },
  work: (vacate: Vacate) => Promise<T>,
): Promise<T> {
  if (folder === null || folders === undefined) return work(async () => {});
  return folders.removing(folder, { force }, work);
}

/** Removes the worktrees of an attempt, whose folder is closed. */
export async function clearWorktrees(
  parts: BoardParts,
  attempt: AttemptRecord,
  { force, vacate }: { force: boolean; vacate: Vacate },
): Promise<void> {
  const request = { base: baseOf(parts, attempt), attemptId: attempt.id, force };
  await checkRemoval(request);
  await vacate();
  await removeWorktrees(request);
  await parts.store.board.changeAttempt(attempt.id, { folder: null, paths: null }, parts.now());
}

async function assertRemovable(parts: BoardParts, id: string, force: boolean): Promise<void> {
  const found = await findAttempt(parts, id);
  const { attempt } = found;
  if (!force) {
    assertIdle(found, "Stop it first, or use force true and lose what it did.");
    const session = attempt.latestSession;
    const count = session === null ? 0 : (await parts.store.board.queue(session.id)).count;
    if (count > 0) {
      const message = `${count} follow-ups are queued for attempt ${id}. Cancel them first, or use force true.`;
      throw new AsyncAgentsError("attempt_running", message, { details: { attempt_id: id, queued_count: count } });
    }
  }
  await checkRemoval({ base: baseOf(parts, attempt), attemptId: id, force });
}

async function removeOne(parts: BoardParts, id: string, force: boolean): Promise<void> {
  const { store } = parts;
  const { attempt, task } = await findAttempt(parts, id);
  const session = attempt.latestSession;
  if (force && session !== null) await store.board.cancelFollowUps(session.id);
  const ended = task === null ? null : force ? await untilStopped(parts, task) : task;
  if (ended !== null && isLive(ended.status)) {
    const message = `Attempt ${id} could not be stopped yet. Try again in a moment.`;
    throw new AsyncAgentsError("attempt_running", message, { details: { attempt_id: id } });
  }
  await whileClosed(parts, attempt, { force }, (vacate) => clearWorktrees(parts, attempt, { force, vacate }));
  await store.board.removeAttempt(id);
}

async function attemptIds({ store }: BoardParts, workItemId: string): Promise<string[]> {
  const ids: string[] = [];
  let after: { createdAt: number; id: string } | null = null;
  for (;;) {
    const page: AttemptKey[] = await store.board.attempts(workItemId, { limit: PAGE, after });
    ids.push(...page.map(({ id }) => id));
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return ids;
  }
}

type AttemptKey = { createdAt: number; id: string };

/** The folder that holds the attempt's worktrees: the configured base folder may have changed since it was created. */
function baseOf({ worktrees }: BoardParts, { folder }: AttemptRecord): string {
  return folder === null ? worktrees : dirname(folder);
}
