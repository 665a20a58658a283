/**
 * Sets the limits of a budget. A new one counts what the tasks below it have used so far, and those that live count in
 * it from now on. Nobody creates tasks or changes their budgets meanwhile, so nothing is counted twice or left out.
 */
import { type Kysely, sql } from "kysely";
import {
  type Budget,
  type BudgetKind,
  budgetId,
  isLower,
  MEASURES,
  NO_LIMITS,
  newBudget,
  subjectOf,
} from "../../model/budgets/budget.ts";
import { limitsText, subjectText } from "../../model/budgets/budget-text.ts";
import { allReserved, withLimits } from "../../model/budgets/chain.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Progress } from "../../model/progress.ts";
import type { Schema } from "../schema.ts";
import { lock, lockAll } from "../sql/lock.ts";
import { lockBudgets, readBudget, readChains } from "./budget-reads.ts";
import { insertBudget, insertLink, RANKS, updateBudget, usedBy } from "./budget-writes.ts";
import type { BudgetChange } from "./records.ts";
import { budgetRow } from "./rows.ts";

const MOST_TASKS = 5_000;
const MOST_DEPTH = 32;
const RANK_OF: Record<BudgetKind, number> = { task: 0, batch: 1, session: 2 };

export async function setBudget(kysely: Kysely<Schema>, id: string, change: BudgetChange): Promise<Budget> {
  const subject = subjectOf(id);
  if (subject === null) throw unknownBudget(id);
  await lock(kysely, "budgets", "");
  // Limits change only under this lock; what is used is read again below, with all rows locked in one order.
  const known = (await readBudget(kysely, id)) ?? undefined;
  const limits = { ...(known?.limits ?? NO_LIMITS), ...change.limits };
  if (!change.mayRaise && known !== undefined && !isLower(limits, known.limits)) throw mayNotRaise(known);
  if (known === undefined) await create(kysely, subject, newBudget(id, limits, change), change.mayRaise);
  const inside = await reserving(kysely, id);
  const around = await aroundOf(kysely, inside, id);
  const locked = await lockBudgets(kysely, [id, ...around]);
  const own = locked.get(id);
  if (own === undefined) throw unknownBudget(id);
  const set = withLimits(own, limits, change);
  await updateBudget(kysely, budgetRow(set));
  for (const each of [id, ...around]) await recount(kysely, each, change.at);
  return (await lockBudgets(kysely, [id])).get(id) ?? set;
}

/** What a budget has reserved, from the tasks that live in it. */
async function recount(kysely: Kysely<Schema>, id: string, at: number): Promise<void> {
  const chains = await readChains(kysely, await reserving(kysely, id));
  const budget = (await lockBudgets(kysely, [id])).get(id);
  if (budget === undefined) return;
  const reserved = allReserved(id, [...chains.values()]);
  await updateBudget(
    kysely,
    budgetRow({ ...withLimits({ ...budget, reserved }, budget.limits, { by: budget.setBy, at }), setAt: budget.setAt }),
  );
}

/** The tasks that count in a budget and reserve something there: they have a budget of their own in which some live. */
async function reserving(kysely: Kysely<Schema>, id: string): Promise<string[]> {
  const rows = await kysely
    .selectFrom("task_budgets as inside")
    .innerJoin("task_budgets as own", (join) =>
      join.onRef("own.task_id", "=", "inside.task_id").on("own.rank", "=", sql.lit(0)),
    )
    .innerJoin("budgets as reserved", "reserved.id", "own.budget_id")
    .select("inside.task_id")
    .where("inside.budget_id", "=", id)
    .where("reserved.live", ">", sql.lit(0))
    .limit(MOST_TASKS)
    .execute();
  return rows.map(({ task_id }) => task_id);
}

/** All budgets in which those tasks count. */
async function aroundOf(kysely: Kysely<Schema>, tasks: readonly string[], id: string): Promise<string[]> {
  const chains = await readChains(kysely, tasks);
  const ids = new Set([...chains.values()].flatMap((chain) => chain.map((budget) => budget.id)));
  ids.delete(id);
  return [...ids];
}

async function create(
  kysely: Kysely<Schema>,
  { kind, subject }: { kind: BudgetKind; subject: string },
  empty: Budget,
  mayRaise: boolean,
): Promise<void> {
  const first = await below(kysely, kind, subject);
  // A session may have a budget before its first task, in place of the one in the settings: that may be more.
  if (first.length === 0 && !(kind === "session" && mayRaise)) throw unknownBudget(empty.id);
  if (first.length > MOST_TASKS) throw tooMany(empty);
  await lockAll(
    kysely,
    "task",
    first.map(({ id }) => id),
  );
  // Their progress may have been written before they were locked.
  const tasks = await below(kysely, kind, subject);
  const sum = { spent: { ...empty.spent }, unpriced: 0, tasks: 0, live: 0 };
  for (const task of tasks) {
    const used = usedBy({ progress: JSON.parse(task.progress) as Progress });
    for (const measure of MEASURES) sum.spent[measure] += used[measure];
    sum.unpriced += used.unpriced;
    sum.tasks += empty.id === budgetId("task", task.id) ? 0 : 1;
    sum.live += task.live;
  }
  await insertBudget(kysely, budgetRow({ ...empty, ...sum }));
  for (const { id, depth } of tasks) {
    const rank = RANK_OF[kind] + depth * RANKS;
    await insertLink(kysely, { task_id: id, budget_id: empty.id, rank, flying: 0 });
  }
}

interface TaskBelow {
  id: string;
  depth: number;
  live: number;
  progress: string;
}

/** The tasks that count in a budget, with the number of parents between: the task itself or the batch has none. */
async function below(kysely: Kysely<Schema>, kind: BudgetKind, subject: string): Promise<TaskBelow[]> {
  const column = ({ task: "id", batch: "batch_id", session: "parent_session_id" } as const)[kind];
  const rows = await kysely
    .withRecursive("below(id, session_id, depth)", (outer) =>
      outer
        .selectFrom("tasks")
        .select(["tasks.id", "tasks.session_id", sql<number>`0`.as("depth")])
        .where(`tasks.${column}`, "=", subject)
        .unionAll(
          outer
            .selectFrom("below")
            .innerJoin("tasks as child", "child.parent_session_id", "below.session_id")
            .select(["child.id", "child.session_id", sql<number>`below.depth + 1`.as("depth")])
            .where("below.session_id", "<>", "")
            .where("below.depth", "<", MOST_DEPTH),
        ),
    )
    .selectFrom("below")
    .innerJoin("tasks", "tasks.id", "below.id")
    .select(["tasks.id", "below.depth", "tasks.live", "tasks.progress"])
    .limit(MOST_TASKS + 1)
    .execute();
  return rows.map((row) => ({ ...row, depth: Number(row.depth), live: Number(row.live) }));
}

function unknownBudget(id: string): AsyncAgentsError {
  const message = `Nothing is known that ${JSON.stringify(id.slice(0, 100))} could be the budget of. Give task:ID, batch:ID or session:ID; asyncagents ls shows them.`;
  return new AsyncAgentsError("not_found", message, { details: { budget: id } });
}

function mayNotRaise(budget: Budget): AsyncAgentsError {
  const message = `The budget of ${subjectText(budget)} is ${limitsText(budget.limits)}; only a person can raise it (asyncagents budget set ${budget.id} …). You can lower it.`;
  return new AsyncAgentsError("not_allowed", message, { details: { budget: budget.id } });
}

function tooMany(budget: Budget): AsyncAgentsError {
  const message = `${subjectText(budget)} has more than ${MOST_TASKS} tasks. Set a budget for one of its batches, or for its next session.`;
  return new AsyncAgentsError("too_large", message);
}
