/**
 * What came of a launch, for a program that follows it by its handle: that of a task, or the id of an attempt, and, for
 * a follow-up, with the number of its run. A handle is about one run, so that an end never changes once it was read.
 */
import type { Attempt } from "../../model/board.ts";
import { partsOfHandle, runHandle } from "../../model/notifications/follower.ts";
import { isLive, type Run, statusAfter, type Task } from "../../model/task.ts";
import { asLine } from "../../model/text/foreign-text.ts";
import { isOwner } from "../../protocol/call-origin.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptStart } from "../attempts/attempt-start.ts";
import { stopAttempt, untilStopped } from "../attempts/attempts.ts";
import type { BoardCall } from "../board-call.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { notFound } from "../not-found.ts";
import { isUuid } from "../uuid.ts";
import { askedOf, progressLine, wireTime } from "../wire.ts";

/** What goes into the context of the model that launched it; the full text stays readable. */
const RESULT = 8_000;
const LINE = 500;

type LaunchEnd = OperationOutput<"read_end">;

export async function readEnd(parts: BoardParts, { handle }: Input<"read_end">): Promise<LaunchEnd> {
  const { attempt, task, number } = await findLaunch(parts, handle);
  const run = task === null ? null : await runOf(parts, task, number);
  const isOver = run?.endedAt != null;
  const createdAt = attempt?.createdAt ?? task?.startedAt ?? 0;
  const updatedAt = run?.endedAt ?? task?.progress.lastUpdate ?? attempt?.updatedAt ?? createdAt;
  const end = {
    handle,
    created_at: wireTime(createdAt),
    updated_at: wireTime(Math.max(createdAt, updatedAt)),
    status: statusOf(attempt?.state ?? null, run),
    message: messageOf(attempt, task, run),
    error: run?.error ?? attempt?.error ?? null,
  };
  const answered = attempt
    ? { task_id: attempt.workItemId, attempt_id: attempt.id }
    : { handle, status: statusAfter(run) };
  const changes = isOver && task !== null && attempt === null ? await parts.taskWorktrees.textOf(task) : null;
  const outcome = isOver ? { result: run.result?.slice(0, RESULT) ?? null, error: run.error } : {};
  return { ...end, answer: { ...answered, ...outcome, ...(changes !== null && { changes }) } };
}

export async function stopLaunch(
  parts: BoardParts,
  start: AttemptStart,
  { handle }: Input<"stop_launch">,
  { origin }: BoardCall,
): Promise<OperationOutput<"stop_launch">> {
  const { attempt, task, number } = await findLaunch(parts, handle);
  // Later runs are not what was launched by this handle.
  if (task !== null && task.run.number > number) return { handle };
  if (attempt !== null) await stopAttempt(parts, start, { attempt_id: attempt.id });
  else if (task !== null && isLive(task.status)) {
    await untilStopped(parts, task, { mayOpen: isOwner(origin) });
  }
  return { handle };
}

/** Some hosts name their sessions, and so their tasks, with UUIDs as well. `number` is that of the run. */
export async function findLaunch({ store }: Pick<BoardParts, "store">, handle: string) {
  const { launch, run: number } = partsOfHandle(handle);
  const attempt = isUuid(launch) ? await store.board.attempt(launch) : null;
  const taskId = attempt === null ? launch : attempt.latestSession?.taskId;
  const task = taskId === undefined ? null : await store.task(taskId);
  const isMissing = attempt === null && task === null;
  if (isMissing || number > (task?.run.number ?? 0)) throw notFound("handle", handle);
  return { attempt, task, number };
}

/** A follow-up is followed as a run of its attempt, although its answer names the session. */
export async function followedHandle({ store }: BoardParts, handle: string): Promise<string> {
  const { launch, run } = partsOfHandle(handle);
  const session = run > 0 && isUuid(launch) ? await store.board.session(launch) : null;
  return session === null ? handle : runHandle(session.attemptId, run);
}

async function runOf({ store }: BoardParts, task: Task, number: number): Promise<Run | null> {
  return task.run.number === number ? task.run : store.run(task.id, number);
}

/** An attempt that could not be set up has failed without a run. */
function statusOf(state: Attempt["state"] | null, run: Run | null): LaunchEnd["status"] {
  if (run === null) return state === "failed" ? "failed" : "working";
  if (run.outcome === null) return "working";
  return run.outcome === "error" ? "failed" : run.outcome;
}

function messageOf(attempt: Pick<Attempt, "state" | "error"> | null, task: Task | null, run: Run | null): string {
  if (run === null || task === null) return asLine(attempt?.error ?? "being set up", LINE);
  const asked = askedOf(task);
  if (run.outcome === null) return asLine(asked ? `waits for a person: ${asked.text}` : progressLine(task), LINE);
  const why = run.error === null ? "" : `: ${run.error}`;
  return asLine(`${task.description}: ${run.outcome}${why}`, LINE);
}
