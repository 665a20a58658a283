/**
 * Counts what events of tasks mean for budgets, in the transactions of those events: a run that begins is reserved or
 * rejected, progress is added, an end releases what was reserved. Tasks without budgets cost one read. What follows
 * (warnings, the end of a budget) is an event of the task that caused it.
 */
import type { Kysely } from "kysely";
import {
  type Budget,
  budgetId,
  eachMeasure,
  isLimited,
  type NewBudgets,
  NOTHING,
  newBudget,
} from "../../model/budgets/budget.ts";
import { overBudget, usageText, warningText } from "../../model/budgets/budget-text.ts";
import { type BudgetStep, type Chain, changedChain, shortageIn } from "../../model/budgets/chain.ts";
import type { BudgetEvent, NewTask, TaskEvent } from "../../model/events.ts";
import { tokenSum } from "../../model/progress.ts";
import { isLive, type Task } from "../../model/task.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { lockShared } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { type BudgetLink, linksOf, lockChain } from "./budget-reads.ts";
import { type BudgetRow, budgetRow } from "./rows.ts";

/** A parent's budgets are three ranks further away than the task's own: its own, its batch's, its session's. */
export const RANKS = 3;
const [OWN, BATCH, SESSION] = [0, 1, 2];
const NOT_LINKED = -1;

/** The budgets that a task counts in, or will count in if the event creates it. */
export async function findBudgets(kysely: Kysely<Schema>, taskId: string, event: TaskEvent): Promise<BudgetLink[]> {
  if (event.type !== "task.created") return linksOf(kysely, taskId);
  const { parentSessionId, batchId } = event.task;
  const [, nearby] = await together([
    lockShared(kysely, "budgets", ""),
    selectNearby(kysely, {
      parent: parentSessionId,
      batch: budgetId("batch", batchId),
      session: budgetId("session", parentSessionId),
    }),
  ]);
  const links = nearby.map(({ id, rank }) => ({
    budgetId: id,
    rank: rank === NOT_LINKED ? (id.startsWith("batch:") ? BATCH : SESSION) : rank + RANKS,
    flying: 0,
  }));
  return links.sort((one, other) => one.rank - other.rank);
}

/** The budgets of a parent that is a task, and those of the batch and of the session, if there are any. */
const selectNearby = preparedQuery<{ parent: string; batch: string; session: string }, { id: string; rank: number }>(
  (kysely, { parent, batch, session }) => {
    const ofParent = kysely
      .selectFrom("task_budgets")
      .innerJoin("tasks", "tasks.id", "task_budgets.task_id")
      .select(["task_budgets.budget_id as id", "task_budgets.rank as rank"]);
    return ofParent
      .where("tasks.id", "=", parent)
      .unionAll(
        ofParent
          .where("tasks.session_id", "=", parent)
          .whereRef("tasks.session_id", "<>", "tasks.id")
          .where("tasks.session_id", "<>", ""),
      )
      .unionAll(
        kysely
          .selectFrom("budgets")
          .select(({ lit, ref }) => [ref("budgets.id").as("id"), lit(NOT_LINKED).as("rank")])
          .where("budgets.id", "in", [batch, session]),
      );
  },
);

/** Last in the transaction of an event. Throws `over_budget` if a run begins that does not fit. */
export async function countInBudgets(
  kysely: Kysely<Schema>,
  step: { before: Task | null; after: Task; event: TaskEvent },
  found: readonly BudgetLink[],
): Promise<BudgetEvent[]> {
  const { before, after, event } = step;
  const links = event.type === "task.created" ? await addBudgets(kysely, event.task, found, event.at) : found;
  if (links.length === 0) return [];
  const change = changeOf(before, after, event.at);
  // What it last requested was refused, or it was stopped, or died with its process.
  const isRefused = after.phase === "retrying" || after.phase === "paused" || after.phase === "queued";
  const hasUse = change.used.tokens > 0 || change.used.cost > 0;
  const landed = hasUse || isRefused || change.live < 0 ? links.filter(({ flying }) => flying > 0) : [];
  const isNothing = [change.live, change.unpriced, ...Object.values(change.used)].every((amount) => amount === 0);
  if (isNothing && landed.length === 0) return [];
  const chain = await lockChain(kysely, links);
  const next = changedChain(chain, change).map((budget) => {
    const isLanded = landed.some(({ budgetId: id }) => id === budget.id);
    return isLanded ? { ...budget, flying: Math.max(0, budget.flying - 1) } : budget;
  });
  const isOver = event.type === "task.created" && event.isOver === true;
  if (change.live > 0 && !isOver) {
    const shortage = shortageIn(next, before === null);
    if (shortage !== null) throw overBudget(shortage);
  }
  await together([
    ...next.map((budget) => updateBudget(kysely, budgetRow(budget))),
    landed.length === 0 ? null : landRequests(kysely, { taskId: after.id }),
  ]);
  return eventsOf(chain, next, event.at);
}

/** Throws `over_budget` if a task that is about to be created would not fit now. Reserves nothing. */
export async function assertFits(kysely: Kysely<Schema>, task: NewTask, at: number): Promise<void> {
  const found = await findBudgets(kysely, task.id, { type: "task.created", at, task });
  const brought = broughtBy(task, found);
  if (found.length + brought.length === 0) return;
  const known = await lockChain(kysely, found);
  const fresh = brought.map(({ link, limits }) => newBudget(link.budgetId, limits, { by: "launch", at }));
  const budgets = new Map([...known, ...fresh].map((budget) => [budget.id, budget]));
  const links = [...found, ...brought.map(({ link }) => link)].sort((one, other) => one.rank - other.rank);
  const chain = links.flatMap(({ budgetId: id }) => budgets.get(id) ?? []);
  const begun = { taskId: task.id, used: NOTHING, unpriced: 0, tasks: 1, live: 1, at };
  const shortage = shortageIn(changedChain(chain, begun), true);
  if (shortage !== null) throw overBudget(shortage);
}

/** The links of a new task, with the budgets that it brings. */
async function addBudgets(
  kysely: Kysely<Schema>,
  task: NewTask,
  found: readonly BudgetLink[],
  at: number,
): Promise<BudgetLink[]> {
  const brought = broughtBy(task, found);
  const links = [...found, ...brought.map(({ link }) => link)].sort((one, other) => one.rank - other.rank);
  for (const { link, limits } of brought) {
    await insertBudget(kysely, budgetRow(newBudget(link.budgetId, limits, { by: "launch", at })));
  }
  await together(
    links.map(({ budgetId: budget_id, rank }) => insertLink(kysely, { task_id: task.id, budget_id, rank, flying: 0 })),
  );
  return links;
}

function broughtBy({ id, batchId, parentSessionId, budgets = {} }: NewTask, found: readonly BudgetLink[]) {
  const isBelowTask = found.some(({ rank }) => rank >= RANKS);
  const wanted: [keyof NewBudgets, string, number][] = [
    ["task", id, OWN],
    ["batch", batchId, BATCH],
    ["session", isBelowTask ? "" : parentSessionId, SESSION],
  ];
  return wanted.flatMap(([kind, subject, rank]) => {
    const limits = budgets[kind];
    const own = budgetId(kind, subject);
    if (limits === undefined || !isLimited(limits) || subject === "") return [];
    return found.some(({ budgetId: known }) => known === own)
      ? []
      : [{ link: { budgetId: own, rank, flying: 0 }, limits }];
  });
}

function changeOf(before: Task | null, after: Task, at: number): BudgetStep {
  const [old, now] = [usedBy(before), usedBy(after)];
  const wasLive = before !== null && isLive(before.status);
  return {
    taskId: after.id,
    used: eachMeasure((measure) => now[measure] - old[measure]),
    unpriced: now.unpriced - old.unpriced,
    tasks: before === null ? 1 : 0,
    live: Number(isLive(after.status)) - Number(wasLive),
    at,
  };
}

/** What a task has used, as budgets count it. A host's wrong figures count nothing. */
export function usedBy(task: Pick<Task, "progress"> | null) {
  const { tokens, cost = 0, workedMs = 0, unpriced = 0 } = task?.progress ?? {};
  const finite = (value: number) => (Number.isFinite(value) ? value : 0);
  return {
    tokens: finite(tokens === undefined ? 0 : tokenSum(tokens)),
    cost: finite(cost),
    ms: finite(workedMs),
    unpriced: finite(unpriced),
  };
}

function eventsOf(before: Chain, after: Chain, at: number): BudgetEvent[] {
  return after.flatMap((budget, index): BudgetEvent[] => {
    const was: Budget | undefined = before[index];
    const about = { at, budget: budget.id };
    if (was?.usedUpAt === null && budget.usedUpAt !== null) {
      return [{ type: "budget.used_up", ...about, text: usageText(budget) }];
    }
    const isWarned = was?.warnedAt === null && budget.warnedAt !== null;
    return isWarned ? [{ type: "budget.warned", ...about, text: warningText(budget) }] : [];
  });
}

export const updateBudget = preparedQuery<BudgetRow>((kysely, { id, ...changes }) =>
  kysely.updateTable("budgets").set(changes).where("id", "=", id),
);

/** Another process may be inserting the same one. */
export const insertBudget = preparedQuery<BudgetRow>((kysely, row) =>
  kysely
    .insertInto("budgets")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

export const insertLink = preparedQuery<RowOf<"task_budgets">>((kysely, row) =>
  kysely.insertInto("task_budgets").values(row),
);

const landRequests = preparedQuery<{ taskId: string }>((kysely, { taskId }) =>
  kysely.updateTable("task_budgets").set({ flying: 0 }).where("task_id", "=", taskId),
);
