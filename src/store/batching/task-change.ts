/**
 * One change of a task with what commits together with it, in a transaction of its own: the place in the queue of a
 * task that is created, and the end of the claim of a run that begins. `apply-changes.ts` does several of them
 * in one transaction.
 */
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../model/events.ts";
import type { WorkSpan } from "../../model/live-run/work-spans.ts";
import type { Transition } from "../../model/transition.ts";
import { beginClaim } from "../queue/claims.ts";
import type { Lines } from "../queue/lines.ts";
import { addQueuedRun } from "../queue/queued-runs.ts";
import { applyToTask } from "../queue/queued-task-writes.ts";
import type { QueuedRun, RunClaim } from "../queue/run-queue.ts";
import { RolledBack } from "../rollback.ts";
import type { Schema } from "../schema.ts";
import type { ExpectedOwner } from "../store.ts";
import { readTask } from "../tasks/reads.ts";
import { putSpans, spansRow } from "../tasks/work-spans.ts";

export interface TaskChange {
  id: string;
  event: TaskEvent;
  expected?: ExpectedOwner | undefined;
  /** Where the task that the event creates waits. */
  queued?: QueuedRun;
  /** What the event needs, and ends: it gives the task its session. */
  claim?: RunClaim;
  /** What the event's run spent its time on. */
  spans?: readonly WorkSpan[] | undefined;
}

/** A refusal leaves nothing behind. */
export async function applyChange(kysely: Kysely<Schema>, lines: Lines, change: TaskChange): Promise<Transition> {
  const { id, event, expected, queued, claim, spans } = change;
  if (queued !== undefined) await addQueuedRun(kysely, lines, queued);
  const outcome = await applyToTask(kysely, lines, id, event, expected);
  if (!outcome.changed && queued !== undefined) throw new RolledBack(outcome);
  if (outcome.changed && claim !== undefined && !(await beginClaim(kysely, claim))) {
    throw new RolledBack({ changed: false, task: await readTask(kysely, id), reason: "other_owner" });
  }
  if (outcome.changed && spans !== undefined && "run" in event && event.run !== undefined) {
    await putSpans(kysely, spansRow(id, event.run, spans));
  }
  return outcome;
}
