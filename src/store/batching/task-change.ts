/**
 * One change of a task with what commits together with it, in a transaction of its own: the place in the queue of a
 * task that is created, and the end of the claim of a run that begins or ends. `apply-changes.ts` does several of them
 * in one transaction.
 */
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../model/events.ts";
import { type Transition, transition } from "../../model/transition.ts";
import { beginClaim } from "../queue/claims.ts";
import type { Lines } from "../queue/lines.ts";
import { addQueuedRun } from "../queue/queued-runs.ts";
import { applyToTask } from "../queue/queued-task-writes.ts";
import type { QueuedRun, RunClaim } from "../queue/run-queue.ts";
import { RolledBack } from "../rollback.ts";
import type { Schema } from "../schema.ts";
import type { ExpectedOwner } from "../store.ts";
import { lockTask } from "../tasks/reads.ts";

export interface TaskChange {
  id: string;
  event: TaskEvent;
  expected?: ExpectedOwner | undefined;
  /** Where the task that the event creates waits. */
  queued?: QueuedRun;
  /** What the event needs, and ends. */
  claim?: RunClaim;
}

/** A refusal leaves nothing behind. */
export async function applyChange(kysely: Kysely<Schema>, lines: Lines, change: TaskChange): Promise<Transition> {
  const { id, event, expected, queued, claim } = change;
  if (claim !== undefined) {
    // The task first, as everybody locks them.
    const task = await lockTask(kysely, id);
    if (!(await beginClaim(kysely, claim))) {
      const outcome = transition(task, event);
      return outcome.changed ? { changed: false, task, reason: "other_owner" } : outcome;
    }
  }
  if (queued !== undefined) await addQueuedRun(kysely, lines, queued);
  const outcome = await applyToTask(kysely, lines, id, event, expected);
  if (!outcome.changed && (claim !== undefined || queued !== undefined)) throw new RolledBack(outcome);
  return outcome;
}
