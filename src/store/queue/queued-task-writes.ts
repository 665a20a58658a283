/**
 * Applies events to tasks, and keeps the queue true to them in the same transaction: an interrupted run with retries
 * left goes back to the queue instead of ending, one that waits there is cancelled at once, a run that ends leaves it,
 * and tasks that wait for this one are judged when it ends or is resumed.
 */
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../model/events.ts";
import { cancelInstead, retryInstead } from "../../model/retry.ts";
import { isLive } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import type { Schema } from "../schema.ts";
import type { ExpectedOwner } from "../store.ts";
import { applyEvent } from "../tasks/writes.ts";
import type { Lines } from "./lines.ts";
import { removeQueuedRun, requeueRun, retriesLeft } from "./queued-runs.ts";
import { type ApplyEvent, concernsSuccessors, judgeSuccessors } from "./successors.ts";

/** `applyToTask` in one transaction. */
export function applying(kysely: Kysely<Schema>, lines: Lines): ApplyEvent {
  return (id, event) => applyToTask(kysely, lines, id, event);
}

export async function applyToTask(
  kysely: Kysely<Schema>,
  lines: Lines,
  id: string,
  given: TaskEvent,
  expected?: ExpectedOwner,
): Promise<Transition> {
  let event = given;
  const outcome = await applyEvent(kysely, id, given, expected, (task) => {
    event = cancelInstead(task, given) ?? given;
    if (event !== given) return event;
    if (given.type !== "run.failed" || task.id === task.sessionId || retryInstead(task, given, 1) === null) return null;
    return retriesLeft(kysely, id).then((retries) => {
      event = retryInstead(task, given, retries) ?? given;
      return event;
    });
  });
  if (!outcome.changed) return outcome;
  const { task } = outcome;
  if (event.type === "run.requeued") await requeueRun(kysely, lines, id);
  else if (task.id !== task.sessionId && task.run.number === 0 && "run" in event && !isLive(task.status)) {
    await removeQueuedRun(kysely, lines, id);
  }
  if (concernsSuccessors(event)) await judgeSuccessors(kysely, lines, { id, at: event.at }, applying(kysely, lines));
  return outcome;
}
