/**
 * How an event becomes rows: the task, its run, the totals, the work item, the event and the notice in the caller's transaction. `transition` alone
 * decides; a refusal writes nothing. Does not open transactions.
 */
import type { Kysely } from "kysely";
import { AsyncAgentsError } from "../model/errors.ts";
import type { TaskEvent } from "../model/events.ts";
import type { Task } from "../model/task.ts";
import { type Transition, transition } from "../model/transition.ts";
import { addToTotals } from "./agent-totals.ts";
import { appendEvent, dropEarlierProgress } from "./feed.ts";
import { addNotice } from "./notices.ts";
import type { Schema } from "./schema.ts";
import { storableEvent, storableText } from "./storable.ts";
import { readTask } from "./task-reads.ts";
import { changingColumns, runRow, taskRow } from "./task-rows.ts";
import { moveWorkItem } from "./work-item-moves.ts";

export async function applyEvent(kysely: Kysely<Schema>, taskId: string, input: TaskEvent): Promise<Transition> {
  const id = storableText(taskId);
  const { event, json } = storableEvent(input);
  if ("task" in event && event.task.id !== id) {
    throw new AsyncAgentsError("internal", `The event makes task ${event.task.id} but was applied to ${id}.`);
  }
  const before = await readTask(kysely, id);
  const outcome = transition(before, event);
  if (!outcome.changed) return outcome;
  const seq = await appendEvent(kysely, id, event.type, json);
  if ("progress" in event && event.progress !== null) await dropEarlierProgress(kysely, id, seq);
  if (before === null) {
    await kysely.insertInto("tasks").values(taskRow(outcome.task, seq)).execute();
  } else {
    await kysely.updateTable("tasks").set(changingColumns(outcome.task)).where("id", "=", id).execute();
  }
  await writeRun(kysely, before, outcome.task);
  await addToTotals(kysely, before, outcome.task);
  await moveWorkItem(kysely, before, outcome.task, event.at);
  if (outcome.notice !== null) await addNotice(kysely, outcome.task, outcome.notice, event.at);
  return outcome;
}

async function writeRun(kysely: Kysely<Schema>, before: Task | null, after: Task): Promise<void> {
  if (before?.run === after.run) return;
  const row = runRow(after.id, after.run);
  if (before?.run.number !== after.run.number) {
    await kysely.insertInto("runs").values(row).execute();
    return;
  }
  const { task_id, number, ended_at, outcome, result, error } = row;
  await kysely
    .updateTable("runs")
    .set({ ended_at, outcome, result, error })
    .where("task_id", "=", task_id)
    .where("number", "=", number)
    .execute();
}
