/**
 * Finds attempts, lists them, and stops their work. Only reads and cancels; other files decide what happens to
 * worktrees.
 */

import type { Opening } from "../../engine/desk.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { isLive, type Task } from "../../model/task.ts";
import { settlesWithin } from "../../process/deadline.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import { ownedAt } from "../../worktree/owned.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { notFound } from "../not-found.ts";
import { pageOf, shown } from "../pages.ts";
import { assertProject } from "../projects.ts";
import { stateOf, wireAttemptRow, wireListedAttempt } from "../wire.ts";
import type { AttemptStart } from "./attempt-start.ts";

/** How long a stop waits for an attempt that is still being set up. */
const SETUP_MS = 10_000;
/** The reason shown on a queue that a person has put on hold. */
export const STOPPED = "the attempt was stopped. Send or queue a follow-up to go on.";

interface FoundAttempt {
  attempt: AttemptRecord;
  /** The task of the attempt's latest session. */
  task: Task | null;
}

export async function findAttempt({ store }: Pick<BoardParts, "store">, id: string): Promise<FoundAttempt> {
  const attempt = await store.board.attempt(id);
  if (attempt === null) throw notFound("attempt", id);
  const taskId = attempt.latestSession?.taskId;
  return { attempt, task: taskId === undefined ? null : await store.task(taskId) };
}

export async function listTaskAttempts(
  { store }: BoardParts,
  input: Input<"list_task_attempts">,
): Promise<OperationOutput<"list_task_attempts">> {
  const item = await store.board.workItem(input.task_id);
  if (item === null) throw notFound("task", input.task_id);
  const { rows, next } = shown(await store.board.attempts(input.task_id, pageOf(input)), input);
  return {
    attempts: rows.map(wireAttemptRow),
    task_id: input.task_id,
    count: rows.length,
    latest_attempt_id: item.latestAttemptId,
    latest_session_id: item.latestSessionId,
    next_cursor: next,
  };
}

export async function listAttempts(
  { store }: BoardParts,
  input: Input<"list_attempts">,
): Promise<OperationOutput<"list_attempts">> {
  const { project_id = null } = input;
  if (project_id !== null) await assertProject(store, project_id);
  const { rows, next } = shown(await store.board.allAttempts(project_id, pageOf(input)), input);
  return { attempts: rows.map(wireListedAttempt), count: rows.length, next_cursor: next };
}

export async function attemptTask(
  parts: BoardParts,
  { attempt_id }: Input<"attempt_task">,
): Promise<OperationOutput<"attempt_task">> {
  const { attempt } = await findAttempt(parts, attempt_id);
  return { handle: attempt.latestSession?.taskId ?? null };
}

export async function stopAttempt(
  parts: BoardParts,
  start: AttemptStart,
  { attempt_id }: Input<"stop_attempt">,
): Promise<OperationOutput<"stop_attempt">> {
  await findAttempt(parts, attempt_id);
  await settlesWithin(start.settled(attempt_id), { timeout: SETUP_MS, clock: parts });
  return parts.oneAtATime.run(attempt_id, async () => {
    const { attempt, task } = await findAttempt(parts, attempt_id);
    if (attempt.state === "starting") {
      const message = `Attempt ${attempt_id} is still being set up, and cannot be stopped in the middle. Try again in a moment.`;
      throw new AsyncAgentsError("attempt_running", message, { details: { attempt_id } });
    }
    await holdQueue(parts, attempt);
    return { attempt_id, state: stateOf(attempt, task === null ? null : await untilStopped(parts, task)) };
  });
}

/** The session may be between two runs: even then, nothing queued may start now. */
async function holdQueue({ store }: BoardParts, { latestSession }: AttemptRecord): Promise<void> {
  if (latestSession === null) return;
  const { head } = await store.board.queue(latestSession.id);
  if (head !== null) await store.board.refuseFollowUp(latestSession.id, head.id, STOPPED);
}

/** The task once it is no longer running. Whoever stops an attempt could continue it, and may have its host opened. */
export async function untilStopped(
  { desk, store }: BoardParts,
  task: Task,
  opening: Opening = { mayOpen: true },
): Promise<Task> {
  if (!isLive(task.status)) return task;
  try {
    return await desk.cancel(task, opening);
  } catch (thrown) {
    // The task ended by itself in the meantime.
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "task_not_live")
      return (await store.task(task.id)) ?? task;
    throw thrown;
  }
}

/** Rejects further work in an attempt whose worktrees are gone, whether merged or deleted by hand. */
export function assertWorktrees({ id, folder, state, repos }: AttemptRecord): void {
  if (folder === null) {
    const why = state === "merged" ? " since it was merged" : "";
    const message = `The worktrees of attempt ${id} are gone${why}. Start another attempt.`;
    throw new AsyncAgentsError("worktree_not_found", message, { details: { attempt_id: id } });
  }
  for (const { path } of repos) if (path !== null) ownedAt(path);
}

/** Rejects the call while the attempt is being set up or running. */
export function assertIdle({ attempt, task }: FoundAttempt, advice: string): void {
  if (attempt.state !== "starting" && !(task !== null && isLive(task.status))) return;
  const message = `Attempt ${attempt.id} is ${attempt.state === "starting" ? "being set up" : "at work"}. ${advice}`;
  throw new AsyncAgentsError("attempt_running", message, { details: { attempt_id: attempt.id } });
}
