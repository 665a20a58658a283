/**
 * Turns an event into rows: the task, its run, the totals, the work item, the event and the notice, in the caller's
 * transaction. Only `transition` decides; a refusal writes nothing. What it decides on is read under locks in one round
 * trip, what follows is written in another. `batching/apply-changes.ts` does the same for several tasks at once: what
 * is added here is added there, or the change is left out there. Does not open transactions.
 */
import type { Insertable, Kysely, Updateable } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { BudgetEvent, TaskEvent } from "../../model/events.ts";
import { isSteering } from "../../model/steering.ts";
import { isLive, type Task } from "../../model/task.ts";
import { type Transition, transition } from "../../model/transition.ts";
import { lockMovedItem, moveWorkItem } from "../board/work-item-moves.ts";
import { countInBudgets, findBudgets } from "../budgets/budget-writes.ts";
import { preparedQuery } from "../compiled-query.ts";
import { appendEvent, dropProgress } from "../feed.ts";
import { addFollowerNotice, isForFollower } from "../followers/kysely-followers.ts";
import { lockUnregistered } from "../instances.ts";
import type { Schema } from "../schema.ts";
import { together } from "../sql/together.ts";
import { storableEvent, storableText } from "../storable.ts";
import type { ExpectedOwner } from "../store.ts";
import { addToTotals } from "./agent-totals.ts";
import { addNotice } from "./notices.ts";
import { lockTask } from "./reads.ts";
import { changingColumns, placeColumns, runRow, taskRow } from "./rows.ts";
import { applySteering, settleSteering } from "./steering.ts";

/** With `replaced`, another event may take the place of this one, depending on the task. */
export async function applyEvent(
  kysely: Kysely<Schema>,
  taskId: string,
  input: TaskEvent,
  expected?: ExpectedOwner,
  replaced: (task: Task, event: TaskEvent) => Promise<TaskEvent> | TaskEvent | null = () => null,
): Promise<Transition> {
  const id = storableText(taskId);
  if ("task" in input && storableText(input.task.id) !== id) {
    throw new AsyncAgentsError("internal", `The event makes task ${input.task.id} but was applied to ${id}.`);
  }
  const [before, item, budgets] = await together([
    lockTask(kysely, id),
    lockMovedItem(kysely, id, input),
    findBudgets(kysely, id, input),
  ]);
  const { event, json } = storableEvent((before && (await replaced(before, input))) ?? input);
  if (expected && before !== null && isLive(before.status) && !(await isExpected(kysely, before, expected))) {
    return { changed: false, task: before, reason: "other_owner" };
  }
  const outcome = transition(before, event);
  if (!outcome.changed) return outcome;
  if (isSteering(event)) {
    if (!(await applySteering(kysely, id, event))) return { changed: false, task: outcome.task, reason: "no_change" };
    await appendEvent(kysely, id, event.type, json);
    return outcome;
  }
  const { task: after, notice } = outcome;
  const hasProgress = "progress" in event && event.progress !== null;
  const dropped = hasProgress ? dropProgress(kysely, id) : null;
  const appended = appendEvent(kysely, id, event.type, json);
  // A new task's row carries the number of its event.
  const row = before === null ? taskRow(after, await appended) : null;
  await together([
    dropped,
    appended,
    row === null
      ? updateTask(kysely, { id, ...changingColumns(after), ...(isMoved(event) && placeColumns(after)) })
      : insertTask(kysely, row),
    writeRun(kysely, before, after),
    addToTotals(kysely, [{ before, after }]),
    item && moveWorkItem(kysely, item, { before, after, at: event.at }),
    notice && addNotice(kysely, after, notice, event.at),
    isForFollower(before, after) ? addFollowerNotice(kysely, after, event.at) : null,
    settleSteering(kysely, after, event),
  ]);
  // Last: budgets are shared by many tasks, and locked until the end of the transaction.
  const reached = await countInBudgets(kysely, { before, after, event }, budgets);
  for (const budgetEvent of reached) await appendBudgetEvent(kysely, after, budgetEvent);
  return outcome;
}

async function appendBudgetEvent(kysely: Kysely<Schema>, task: Task, input: BudgetEvent): Promise<void> {
  const { event, json } = storableEvent(input);
  const outcome = transition(task, event);
  await appendEvent(kysely, task.id, event.type, json);
  if (outcome.changed && outcome.notice !== null) await addNotice(kysely, task, outcome.notice, event.at);
}

/** Whether the task got a session, lost it, or waits for others. */
function isMoved({ type }: TaskEvent): boolean {
  return type === "task.claimed" || type === "run.requeued" || type === "task.edited";
}

/** Whether the writer still drives the run, or may take it over from an owner that is not registered any more. */
async function isExpected(kysely: Kysely<Schema>, task: Task, { owner, fence, by }: ExpectedOwner): Promise<boolean> {
  if (task.owner !== owner || task.fence !== fence) return false;
  return owner === null || owner === by || (await lockUnregistered(kysely, owner));
}

async function writeRun(kysely: Kysely<Schema>, before: Task | null, after: Task): Promise<void> {
  if (before?.run === after.run) return;
  const row = runRow(after.id, after.run);
  if (before?.run.number !== after.run.number) {
    await insertRun(kysely, row);
    return;
  }
  const { prompt: _prompt, ...unedited } = row;
  const changing = before?.run.prompt === after.run.prompt ? unedited : row;
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
