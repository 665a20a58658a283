/**
 * Tasks that wait for others, in the caller's transaction: written down while their runs are held, and judged in the
 * transaction that ends or resumes one of the others, so that no crash comes between. The model decides; a task that
 * may start gets into its line, one that is skipped ends, which is judged in turn for those that wait for it.
 * Locks a task after those that it waits for.
 */
import type { Kysely } from "kysely";
import { endText, judgeAfter, skipReason, type Verdict } from "../../model/after.ts";
import type { TaskEvent } from "../../model/events.ts";
import { awaitsRunner, type Status, type Task } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { lockTask } from "../tasks/reads.ts";
import type { Lines } from "./lines.ts";
import { releaseHeld } from "./queued-runs.ts";

/** Applies an event to a task in the same transaction. */
export type ApplyEvent = (id: string, event: TaskEvent) => Promise<Transition>;

/** Whether tasks that wait for this one have to be judged. */
export function concernsSuccessors({ type }: TaskEvent): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled" || type === "task.resumed";
}

/** In the transaction of an event that concerns them. */
export async function judgeSuccessors(
  kysely: Kysely<Schema>,
  lines: Lines,
  { id, at }: { id: string; at: number },
  apply: ApplyEvent,
): Promise<void> {
  const waiting = await selectSuccessors(kysely, { id });
  for (const { task_id } of waiting) await judge(kysely, lines, { id: task_id, at }, apply);
}

const selectSuccessors = preparedQuery<{ id: string }, Pick<RowOf<"predecessors">, "task_id">>((kysely, { id }) =>
  kysely.selectFrom("predecessors").select("task_id").where("predecessor_id", "=", id).orderBy("task_id"),
);

/** Writes down what a task with a held run waits for, and judges it. Returns the task as it is then. */
export async function settleHeld(
  kysely: Kysely<Schema>,
  lines: Lines,
  { id, at }: { id: string; at: number },
  apply: ApplyEvent,
): Promise<Task | null> {
  const task = await lockTask(kysely, id);
  if (task === null) return null;
  await kysely.deleteFrom("predecessors").where("task_id", "=", id).execute();
  const rows = (task.after?.tasks ?? []).map((predecessor_id) => ({ task_id: id, predecessor_id }));
  if (rows.length > 0) await kysely.insertInto("predecessors").values(rows).execute();
  await judge(kysely, lines, { id, at }, apply);
  return lockTask(kysely, id);
}

async function judge(
  kysely: Kysely<Schema>,
  lines: Lines,
  { id, at }: { id: string; at: number },
  apply: ApplyEvent,
): Promise<void> {
  const task = await lockTask(kysely, id);
  if (task === null || !awaitsRunner(task)) return;
  const verdict = await verdictOn(kysely, task);
  if (verdict.kind === "start") {
    if (!(await releaseHeld(kysely, lines, id))) return;
    await kysely.deleteFrom("predecessors").where("task_id", "=", id).execute();
  }
  const event = consequence(task, verdict, at);
  if (event !== null) await apply(id, event);
}

async function verdictOn(kysely: Kysely<Schema>, { after }: Task): Promise<Verdict> {
  if (after === null || after.tasks.length === 0) return { kind: "start" };
  const rows = await kysely.selectFrom("tasks").select(["id", "status"]).where("id", "in", after.tasks).execute();
  return judgeAfter(
    after,
    rows.map(({ id, status }) => ({ id, status: status as Status })),
  );
}

function consequence({ run, phaseDetail }: Task, verdict: Verdict, at: number): TaskEvent | null {
  const phased = { type: "run.phased", at, run: run.number } as const;
  switch (verdict.kind) {
    case "start":
      return phaseDetail === null ? null : { ...phased, phase: "queued", detail: null };
    case "later":
      return phaseDetail?.kind === "after" ? null : { ...phased, phase: "queued", detail: { kind: "after" } };
    case "blocked": {
      const { by, status } = verdict;
      const text = `It starts after task ${by}, which ${endText(status)}.`;
      return { ...phased, phase: "waiting", detail: { kind: "blocked", by, text, at } };
    }
    case "skip":
      return {
        type: "run.cancelled",
        at,
        run: run.number,
        reason: skipReason(verdict.by, verdict.status),
        progress: null,
      };
  }
}

/** What those of these tasks wait for that are held. */
export async function readPredecessors(
  kysely: Kysely<Schema>,
  taskIds: readonly string[],
): Promise<{ taskId: string; predecessorId: string }[]> {
  if (taskIds.length === 0) return [];
  const rows = await kysely
    .selectFrom("predecessors")
    .select(["task_id", "predecessor_id"])
    .where("task_id", "in", taskIds)
    .execute();
  return rows.map(({ task_id, predecessor_id }) => ({ taskId: task_id, predecessorId: predecessor_id }));
}

/** How many tasks wait for this one, counted up to `most`. */
export async function countSuccessors(kysely: Kysely<Schema>, id: string, most: number): Promise<number> {
  const found = kysely.selectFrom("predecessors").select("task_id").where("predecessor_id", "=", id).limit(most);
  return (await found.execute()).length;
}
