/**
 * Applies events to tasks, and keeps the queue true to them in the same transaction: an interrupted run with retries
 * left goes back to the queue instead of ending, and a run that ends leaves it. Tasks that did not come from the queue
 * cost nothing more.
 */
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../model/events.ts";
import { retryInstead } from "../../model/retry.ts";
import { isLive } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import type { Schema } from "../schema.ts";
import type { ExpectedOwner } from "../store.ts";
import { readTask } from "../tasks/reads.ts";
import { applyEvent } from "../tasks/writes.ts";
import type { Lines } from "./lines.ts";
import { removeQueuedRun, requeueRun, retriesLeft } from "./queued-runs.ts";

export async function applyToTask(
  kysely: Kysely<Schema>,
  lines: Lines,
  id: string,
  given: TaskEvent,
  expected?: ExpectedOwner,
): Promise<Transition> {
  const event = (await retry(kysely, id, given)) ?? given;
  const outcome = await applyEvent(kysely, id, event, expected);
  if (!outcome.changed) return outcome;
  const { task } = outcome;
  if (event.type === "run.requeued") await requeueRun(kysely, lines, id);
  else if (task.id !== task.sessionId && task.run.number === 0 && "run" in event && !isLive(task.status)) {
    await removeQueuedRun(kysely, lines, id);
  }
  return outcome;
}

async function retry(kysely: Kysely<Schema>, id: string, event: TaskEvent): Promise<TaskEvent | null> {
  if (event.type !== "run.failed") return null;
  const task = await readTask(kysely, id);
  if (task === null || task.id === task.sessionId || retryInstead(task, event, 1) === null) return null;
  return retryInstead(task, event, await retriesLeft(kysely, id));
}
