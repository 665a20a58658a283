/**
 * What came of a launch, for a program that follows it by its handle: that of a task, or the id of an attempt. Only the
 * first run counts, so that an end never changes once it was read: later runs have been asked for by somebody who
 * follows them.
 */
import type { Attempt } from "../../model/board.ts";
import { isLive, type Run, statusAfter, type Task } from "../../model/task.ts";
import { asLine } from "../../model/text/foreign-text.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptStart } from "../attempts/attempt-start.ts";
import { findAttempt, stopAttempt, untilStopped } from "../attempts/attempts.ts";
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
  const { attempt, task } = await findLaunch(parts, handle);
  const run = task === null ? null : await firstRun(parts, task);
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
): Promise<OperationOutput<"stop_launch">> {
  const { attempt, task } = await findLaunch(parts, handle);
  if (attempt !== null) await stopAttempt(parts, start, { attempt_id: attempt.id });
  else if (task !== null && isLive(task.status)) await untilStopped(parts, task);
  return { handle };
}

/** A task's handle is never a UUID. */
export async function findLaunch(parts: BoardParts, handle: string) {
  if (isUuid(handle)) return findAttempt(parts, handle);
  const task = await parts.store.task(handle);
  if (task === null) throw notFound("handle", handle);
  return { attempt: null, task };
}

async function firstRun({ store }: BoardParts, task: Task): Promise<Run | null> {
  return task.run.number === 0 ? task.run : store.run(task.id, 0);
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
