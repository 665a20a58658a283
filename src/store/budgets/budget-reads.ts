/**
 * Reads budgets and which tasks count in them, with locks for those who are about to change them. Rows are locked in
 * the order of their ids, so that nobody waits in a circle.
 */
import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type { Budget } from "../../model/budgets/budget.ts";
import { budgetThatStopped } from "../../model/budgets/budget-text.ts";
import type { Chain } from "../../model/budgets/chain.ts";
import type { StoppedTask } from "../../model/inbox.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";
import type { BudgetQuery } from "./records.ts";
import { BUDGET_COLUMNS, type BudgetRow, budgetOf } from "./rows.ts";

const MOST_FORGOTTEN = 100;

/** A budget that a task counts in. */
export interface BudgetLink {
  budgetId: string;
  rank: number;
  /** 1 while a request of the task is under way. */
  flying: number;
}

/** Nearest first. */
export async function linksOf(kysely: Kysely<Schema>, taskId: string): Promise<BudgetLink[]> {
  return (await selectLinks(kysely, { taskId })).map(({ budget_id, rank, flying }) => ({
    budgetId: budget_id,
    rank,
    flying,
  }));
}

const selectLinks = preparedQuery<{ taskId: string }, { budget_id: string; rank: number; flying: number }>(
  (kysely, { taskId }) =>
    kysely
      .selectFrom("task_budgets")
      .select(["budget_id", "rank", "flying"])
      .where("task_id", "=", taskId)
      .orderBy("rank"),
);

/** The budgets of links, in the order of the links; nobody else changes them until the transaction is over. */
export async function lockChain(kysely: Kysely<Schema>, links: readonly BudgetLink[]): Promise<Chain> {
  const budgets = await lockBudgets(
    kysely,
    links.map(({ budgetId }) => budgetId),
  );
  return links.flatMap(({ budgetId }) => budgets.get(budgetId) ?? []);
}

export async function lockBudgets(kysely: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, Budget>> {
  if (ids.length === 0) return new Map();
  const found = kysely.selectFrom("budgets").select(BUDGET_COLUMNS).where("id", "in", ids).orderBy("id");
  const rows = await (dialectOf(kysely) === "postgres" ? found.forUpdate() : found).execute();
  return new Map(rows.map((row) => [row.id, budgetOf(row)]));
}

export async function readBudget(kysely: Kysely<Schema>, id: string): Promise<Budget | null> {
  const [row] = await selectBudget(kysely, { id });
  return row === undefined ? null : budgetOf(row);
}

const selectBudget = preparedQuery<{ id: string }, BudgetRow>((kysely, { id }) =>
  kysely.selectFrom("budgets").select(BUDGET_COLUMNS).where("id", "=", id),
);

export async function readBudgets(kysely: Kysely<Schema>, query: BudgetQuery): Promise<Budget[]> {
  const { taskId, inUse = false, usedUpAfter } = query;
  if (taskId !== undefined) return [...((await readChains(kysely, [taskId])).get(taskId) ?? [])];
  let found = kysely.selectFrom("budgets").select(BUDGET_COLUMNS);
  if (inUse) found = found.where("live", ">", sql.lit(0));
  if (usedUpAfter !== undefined) found = found.where("used_up_at", ">=", usedUpAfter);
  const rows = await found
    .orderBy("set_at", "desc")
    .orderBy("id")
    .limit(clamp(query.limit, 50, 200))
    .execute();
  return rows.map(budgetOf);
}

const MOST_STOPPED = 500;

/** Which budget stopped a run is in its error. */
export async function readStopped(kysely: Kysely<Schema>, ids: readonly string[]): Promise<StoppedTask[]> {
  if (ids.length === 0) return [];
  const rows = await kysely
    .selectFrom("task_budgets")
    .innerJoin("tasks", "tasks.id", "task_budgets.task_id")
    .innerJoin("runs", (join) => join.onRef("runs.task_id", "=", "tasks.id").onRef("runs.number", "=", "tasks.run"))
    .select(["task_budgets.budget_id", "tasks.id", "tasks.description", "runs.error"])
    .where("task_budgets.budget_id", "in", ids)
    .where("tasks.status", "=", sql.lit("error"))
    .orderBy("tasks.completed_at", "desc")
    .orderBy("tasks.id")
    .limit(MOST_STOPPED)
    .execute();
  return rows
    .filter(({ budget_id, error }) => budgetThatStopped(error) === budget_id)
    .map(({ budget_id, id, description }) => ({ id, description, budgetId: budget_id }));
}

export async function readChains(kysely: Kysely<Schema>, taskIds: readonly string[]): Promise<Map<string, Chain>> {
  if (taskIds.length === 0) return new Map();
  return chainsOf(await linkedBudgets(kysely).where("task_budgets.task_id", "in", taskIds).execute());
}

/** Budgets with the tasks that count in them, those of each task in the order of its chain. */
export function linkedBudgets(kysely: Kysely<Schema>) {
  return kysely
    .selectFrom("task_budgets")
    .innerJoin("budgets", "budgets.id", "task_budgets.budget_id")
    .select(BUDGET_COLUMNS.map((name) => `budgets.${name}` as const))
    .select("task_budgets.task_id")
    .orderBy("task_budgets.task_id")
    .orderBy("task_budgets.rank");
}

export function chainsOf(rows: readonly (BudgetRow & { task_id: string })[]): Map<string, Chain> {
  const byTask = Map.groupBy(rows, ({ task_id }) => task_id);
  return new Map([...byTask].map(([taskId, own]) => [taskId, own.map(budgetOf)]));
}

/** The budgets that these tasks count in. */
export async function budgetsAmong(kysely: Kysely<Schema>, taskIds: readonly string[]): Promise<string[]> {
  const rows = await kysely
    .selectFrom("task_budgets")
    .select("budget_id")
    .distinct()
    .where("task_id", "in", taskIds)
    .execute();
  return rows.map(({ budget_id }) => budget_id);
}

/** Removes those of these budgets in which no stored task counts any more. */
export async function removeUnused(kysely: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await kysely.deleteFrom("budgets").where("id", "in", ids).where(isUnused).execute();
}

/** Removes budgets that were set before a time, and in which no stored task counts any more: some of them. */
export async function removeForgotten(kysely: Kysely<Schema>, setBefore: number): Promise<void> {
  const found = kysely.selectFrom("budgets").select("id").where("set_at", "<", setBefore).where(isUnused);
  await kysely.deleteFrom("budgets").where("id", "in", found.limit(MOST_FORGOTTEN)).execute();
}

function isUnused({ not, exists, selectFrom }: ExpressionBuilder<Schema, "budgets">) {
  const own = sql.ref<string>("budgets.id");
  return not(exists(selectFrom("task_budgets").select("task_id").where("task_budgets.budget_id", "=", own)));
}
