/**
 * Cleans up attempts that a crash, or a failure of the store, interrupted during setup: one whose task was launched
 * gets its session, every other one is rolled back and marked as failed. Runs before anything new starts. Never
 * prompts, and never removes anything an agent has worked on.
 */

import { allLaunches } from "../../engine/recovery/orphans.ts";
import { type Attempt, attemptIdOf, batchOfAttempt } from "../../model/board.ts";
import { messageOf } from "../../model/errors.ts";
import { pruneWorktrees, removeWorktrees } from "../../worktree/remove.ts";
import type { BoardContext } from "../board-context.ts";
import { writesEnded } from "../writes-ended.ts";

const INTERRUPTED = "interrupted while it was set up. Start another attempt.";

export async function recoverAttempts(context: BoardContext): Promise<void> {
  const { store, log } = context;
  await clearLeftovers(context).catch((thrown: unknown) => {
    log.error("what was left of worktrees could not be cleared", { error: messageOf(thrown) });
  });
  for (const attempt of await store.board.startingAttempts(context.machine)) {
    await recover(context, attempt).catch((thrown: unknown) => {
      log.error("an attempt could not be recovered", { attempt: attempt.id, error: messageOf(thrown) });
    });
  }
}

/** For one whose setup is over in this process. Does nothing if it is set up, or has failed, or is gone. */
export async function recoverAttempt(context: BoardContext, id: string): Promise<void> {
  await writesEnded(context.store);
  const attempt = (await context.store.board.startingAttempts(context.machine)).find((each) => each.id === id);
  if (attempt) await recover(context, attempt);
}

async function clearLeftovers({ store, worktrees, now, log }: BoardContext): Promise<void> {
  const onFailure = (path: string, thrown: unknown) =>
    log.error("what was left of a worktree could not be cleared", { path, error: messageOf(thrown) });
  for (const { path } of await pruneWorktrees(worktrees, { onFailure })) {
    const id = await store.board.attemptAt([path]);
    if (id !== null) await store.board.changeAttempt(id, { folder: null, paths: null }, now());
  }
}

async function recover({ store, worktrees, now, newId, log }: BoardContext, attempt: Attempt): Promise<void> {
  const { tasks } = await store.tasks({ batchId: batchOfAttempt(attempt), limit: 1, textChars: 0 });
  const [task] = tasks;
  if (task) {
    const session = { id: newId(), attemptId: attempt.id, taskId: task.id, host: task.host, createdAt: now() };
    return store.board.addSession(session);
  }
  // A session may already exist: it was never prompted, and nothing will look for it.
  for (const launch of await allLaunches(store)) {
    if (attemptIdOf(launch) === attempt.id) await store.closeLaunch(launch.id);
  }
  await removeWorktrees({ base: worktrees, attemptId: attempt.id, force: true });
  log.info("an attempt was interrupted while it was set up", { attempt: attempt.id });
  await store.board.changeAttempt(
    attempt.id,
    { state: "failed", error: INTERRUPTED, folder: null, paths: null },
    now(),
  );
}
