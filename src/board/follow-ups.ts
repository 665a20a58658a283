/**
 * Follow-ups: send runs a prompt now, queue stores it until the session is idle, cancel empties the queue. A send
 * never overtakes a queue that is about to continue. The queue pump decides when queued follow-ups start.
 */

import { type BoardSession, type FollowUp, isQueueHeld } from "../model/board.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { isLive, type Task } from "../model/task.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import type { FollowUpQueue } from "../store/board/records.ts";
import { assertWorktrees, findAttempt } from "./attempts/attempts.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardParts } from "./board-context.ts";
import { assertVariant, executorOf, hostFor } from "./executors.ts";
import type { Input } from "./input.ts";
import { notFound } from "./not-found.ts";
import type { QueuePump } from "./queue-pump.ts";
import { isUuid } from "./uuid.ts";
import { heldOf, requiredText, wireTime } from "./wire.ts";
import { writesEnded } from "./writes-ended.ts";

const SHOWN = 2_000;
const LISTED = 50;
const LISTED_CHARS = 10_000;

type Answer = OperationOutput<"follow_up">;

interface Target {
  session: BoardSession;
  task: Task;
}

export async function followUp(
  parts: BoardParts,
  pump: QueuePump,
  input: Input<"follow_up">,
  call: BoardCall,
): Promise<Answer> {
  const { hadEffects } = call;
  const { action } = input;
  const place = placeOf(input);
  if (action !== "cancel") requiredText("prompt", input.prompt);
  const sessionId = await sessionIdOf(parts, place);
  const session = await parts.store.board.session(sessionId);
  if (session === null) throw notFound("session", sessionId);
  return parts.oneAtATime.run(session.attemptId, async () => {
    if (action === "cancel") {
      await parts.store.board.cancelFollowUps(session.id);
      return answerOf(session.id, action, await parts.store.board.queue(session.id));
    }
    const target = await targetOf(parts, session);
    // Whoever may not start this agent does not continue it either.
    hostFor(parts, executorOf(target.task.host), call);
    const request = { prompt: input.prompt ?? "", variant: input.variant?.trim() || null };
    if (action === "send") return send(parts, target, request, hadEffects);
    if (request.variant !== null) await assertVariant(parts, target.task, request.variant);
    await queue(parts, pump, { sessionId: session.id, ...request }, hadEffects);
    return answerOf(session.id, action, await parts.store.board.queue(session.id));
  });
}

async function queue(
  { now, newId, store }: BoardParts,
  pump: QueuePump,
  request: Pick<FollowUp, "sessionId" | "prompt" | "variant">,
  hadEffects: () => void,
): Promise<void> {
  const { sessionId } = request;
  // Nobody else adds to this queue or takes from it meanwhile.
  const { count } = await store.board.queue(sessionId);
  try {
    await store.board.queueFollowUp({ id: newId(), ...request, queuedAt: now() });
    hadEffects();
  } catch (thrown) {
    // Perhaps only the answer was lost: repeating the call would queue the prompt twice.
    const look = async () => {
      await writesEnded(store);
      return store.board.queue(sessionId);
    };
    const after = await look().catch(() => null);
    if (after === null || after.count > count) hadEffects();
    if (after === null || after.count <= count) throw thrown;
  } finally {
    // It may be stored even if that failed, and nothing else looks at this queue.
    pump.wake(sessionId);
  }
}

export async function listFollowUps(
  parts: BoardParts,
  { attempt_id, limit = LISTED }: Input<"list_follow_ups">,
): Promise<OperationOutput<"list_follow_ups">> {
  const { attempt, task } = await findAttempt(parts, attempt_id);
  const session = attempt.latestSession;
  const nothing = { session_id: null, follow_ups: [], queued_count: 0, queue_held: null };
  if (session === null) return { attempt_id, ...nothing };
  const { board } = parts.store;
  const [queue, queued] = await Promise.all([board.queue(session.id), board.followUps(session.id, limit)]);
  return {
    attempt_id,
    session_id: session.id,
    follow_ups: queued.map(({ prompt, variant, queuedAt, error }) => ({
      message: prompt.slice(0, LISTED_CHARS),
      variant,
      queued_at: wireTime(queuedAt),
      error,
    })),
    queued_count: queue.count,
    queue_held: heldOf(task, queue),
  };
}

async function send(
  parts: BoardParts,
  { session, task }: Target,
  { prompt, variant }: { prompt: string; variant: string | null },
  hadEffects: () => void,
): Promise<Answer> {
  const queue = await parts.store.board.queue(session.id);
  const isHeld = queue.head?.error != null || isQueueHeld(task.run, queue.afterRun);
  if (isLive(task.status) || (queue.count > 0 && !isHeld)) throw busy(session.id);
  if (variant !== null) await assertVariant(parts, task, variant);
  const engine = await parts.desk.engine(task.host, task.directory);
  const request = { prompt, allow: ["error", "cancelled"] as const, ...(variant !== null && { agent: variant }) };
  const resumed = await engine.resumeTask(task, request).catch((thrown: unknown) => {
    const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "";
    throw code === "task_running" || code === "task_resuming" ? busy(session.id) : thrown;
  });
  hadEffects();
  // Follow-ups that could not start before are retried after this run.
  if (queue.count > 0) await parts.store.board.refuseFollowUp(session.id, null, null);
  return { ...answerOf(session.id, "send", queue), run: resumed.run.number };
}

/** A canonical id, whichever name the caller used for the attempt. */
function placeOf(input: Input<"follow_up">): { attemptId: string } | { sessionId: string } {
  const { attempt_id, session_id } = input;
  const workspace = input.workspace_id;
  const isId = typeof workspace === "string" && isUuid(workspace);
  const attemptId = attempt_id ?? (isId ? workspace.toLowerCase() : undefined);
  if (attemptId !== undefined && session_id !== undefined) {
    throw wrong("attempt_id and session_id exclude each other. Give the one that you want to continue, not both.");
  }
  if (isId && attempt_id !== undefined && workspace.toLowerCase() !== attempt_id) {
    throw wrong("attempt_id and workspace_id name two attempts. Give attempt_id only.");
  }
  if (attemptId !== undefined) return { attemptId };
  if (session_id !== undefined) return { sessionId: session_id };
  const message = "attempt_id or session_id is missing. list_task_attempts shows both.";
  throw new AsyncAgentsError("missing_required", message, { details: { field: "attempt_id" } });
}

async function sessionIdOf(
  { store }: BoardParts,
  place: { attemptId: string } | { sessionId: string },
): Promise<string> {
  if ("sessionId" in place) return place.sessionId;
  const attempt = await store.board.attempt(place.attemptId);
  if (attempt === null) throw notFound("attempt", place.attemptId);
  if (attempt.latestSession !== null) return attempt.latestSession.id;
  const why = attempt.state === "merged" ? "it was merged, and its session was pruned" : (attempt.error ?? "it failed");
  const what = attempt.state === "starting" ? "is still being set up" : `has none: ${why}`;
  throw new AsyncAgentsError(
    "session_missing",
    `Attempt ${attempt.id} ${what}, so there is no session to continue. Wait until get_attempt shows one, or start another attempt.`,
    { details: { attempt_id: attempt.id } },
  );
}

async function targetOf({ store }: BoardParts, session: BoardSession): Promise<Target> {
  const [attempt, task] = await Promise.all([store.board.attempt(session.attemptId), store.task(session.taskId)]);
  if (attempt === null || task === null) throw notFound("session", session.id);
  assertWorktrees(attempt);
  return { session, task };
}

function answerOf(sessionId: string, action: Answer["action"], { head, count }: FollowUpQueue): Answer {
  return {
    session_id: sessionId,
    action,
    ...(count === 0 ? { status: "empty" as const } : { status: "queued" as const }),
    queued_count: count,
    ...(head !== null && {
      queued_message: {
        session_id: sessionId,
        message: head.prompt.slice(0, SHOWN),
        variant: head.variant,
        queued_at: wireTime(head.queuedAt),
      },
    }),
  };
}

function busy(sessionId: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "session_busy",
    `Session ${sessionId} is at work. Use action queue: the prompt runs when it is idle. Or stop the attempt first.`,
    { details: { session_id: sessionId } },
  );
}

function wrong(message: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", message, { details: { field: "session_id" } });
}
