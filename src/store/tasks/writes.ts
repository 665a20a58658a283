/**
 * Turns an event into rows: the task, its run, the totals, the work item, the event and the notice, in the caller's
 * transaction. Only `transition` decides; a refusal writes nothing. Does not open transactions.
 */
import type { Insertable, Kysely, Updateable } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { isLive, type Task } from "../../model/task.ts";
import { type Transition, transition } from "../../model/transition.ts";
import { moveWorkItem } from "../board/work-item-moves.ts";
import { preparedQuery } from "../compiled-query.ts";
import { appendEvent, dropEarlierProgress } from "../feed.ts";
import { isRegistered } from "../instances.ts";
import type { Schema } from "../schema.ts";
import { storableEvent, storableText } from "../storable.ts";
import type { ExpectedOwner } from "../store.ts";
import { addToTotals } from "./agent-totals.ts";
import { addNotice } from "./notices.ts";
import { readTask } from "./reads.ts";
import { changingColumns, placeColumns, runRow, taskRow } from "./rows.ts";

export async function applyEvent(
  kysely: Kysely<Schema>,
  taskId: string,
  input: TaskEvent,
  expected?: ExpectedOwner,
): Promise<Transition> {
  const id = storableText(taskId);
  const { event, json } = storableEvent(input);
  if ("task" in event && event.task.id !== id) {
    throw new AsyncAgentsError("internal", `The event makes task ${event.task.id} but was applied to ${id}.`);
  }
  const before = await readTask(kysely, id);
  if (expected && before !== null && isLive(before.status) && !(await isExpected(kysely, before, expected))) {
    return { changed: false, task: before, reason: "other_owner" };
  }
  const outcome = transition(before, event);
  if (!outcome.changed) return outcome;
  const seq = await appendEvent(kysely, id, event.type, json);
  if ("progress" in event && event.progress !== null) await dropEarlierProgress(kysely, id, seq);
  if (before === null) {
    await insertTask(kysely, taskRow(outcome.task, seq));
  } else {
    await updateTask(kysely, {
      id,
      ...changingColumns(outcome.task),
      ...(isMoved(event) && placeColumns(outcome.task)),
    });
  }
  await writeRun(kysely, before, outcome.task);
  await addToTotals(kysely, before, outcome.task);
  await moveWorkItem(kysely, before, outcome.task, event.at);
  if (outcome.notice !== null) await addNotice(kysely, outcome.task, outcome.notice, event.at);
  return outcome;
}

/** Whether the task got a session, or lost it. */
function isMoved({ type }: TaskEvent): boolean {
  return type === "task.claimed" || type === "run.requeued";
}

/** Whether the writer still drives the run, or may take it over from an owner that is not registered any more. */
async function isExpected(kysely: Kysely<Schema>, task: Task, { owner, fence, by }: ExpectedOwner): Promise<boolean> {
  if (task.owner !== owner || task.fence !== fence) return false;
  return owner === null || owner === by || !(await isRegistered(kysely, owner));
}

async function writeRun(kysely: Kysely<Schema>, before: Task | null, after: Task): Promise<void> {
  if (before?.run === after.run) return;
  const row = runRow(after.id, after.run);
  if (before?.run.number !== after.run.number) {
    await insertRun(kysely, row);
    return;
  }
  const { prompt: _prompt, started_at: _started, ...changing } = row;
  await updateRun(kysely, changing);
}

const insertTask = preparedQuery<Insertable<Schema["tasks"]>>((kysely, row) => kysely.insertInto("tasks").values(row));

const updateTask = preparedQuery<{ id: string } & Updateable<Schema["tasks"]>>((kysely, { id, ...changes }) =>
  kysely.updateTable("tasks").set(changes).where("id", "=", id),
);

const insertRun = preparedQuery<Insertable<Schema["runs"]>>((kysely, row) => kysely.insertInto("runs").values(row));

const updateRun = preparedQuery<Pick<Schema["runs"], "task_id" | "number"> & Updateable<Schema["runs"]>>(
  (kysely, { task_id, number, ...changes }) =>
    kysely.updateTable("runs").set(changes).where("task_id", "=", task_id).where("number", "=", number),
);
