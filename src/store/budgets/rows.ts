/** Converts between a budget and its row. Lossless in both directions. */
import type { Budget } from "../../model/budgets/budget.ts";
import type { RowOf } from "../schema.ts";

export type BudgetRow = RowOf<"budgets">;

export const BUDGET_COLUMNS = [
  "id",
  "limit_tokens",
  "limit_cost",
  "limit_ms",
  "limit_tasks",
  "spent_tokens",
  "spent_cost",
  "spent_ms",
  "reserved_tokens",
  "reserved_cost",
  "reserved_ms",
  "largest_tokens",
  "largest_cost",
  "tasks",
  "live",
  "flying",
  "unpriced",
  "warned_at",
  "used_up_at",
  "set_by",
  "set_at",
] as const satisfies (keyof BudgetRow)[];

export function budgetOf(row: BudgetRow): Budget {
  return {
    id: row.id,
    limits: { tokens: row.limit_tokens, cost: row.limit_cost, ms: row.limit_ms, tasks: row.limit_tasks },
    spent: { tokens: row.spent_tokens, cost: row.spent_cost, ms: row.spent_ms },
    reserved: { tokens: row.reserved_tokens, cost: row.reserved_cost, ms: row.reserved_ms },
    largest: { tokens: row.largest_tokens, cost: row.largest_cost, ms: 0 },
    tasks: row.tasks,
    live: row.live,
    flying: row.flying,
    unpriced: row.unpriced,
    warnedAt: row.warned_at,
    usedUpAt: row.used_up_at,
    setBy: row.set_by,
    setAt: row.set_at,
  };
}

export function budgetRow({ id, limits, spent, reserved, largest, ...budget }: Budget): BudgetRow {
  return {
    id,
    limit_tokens: limits.tokens,
    limit_cost: limits.cost,
    limit_ms: limits.ms,
    limit_tasks: limits.tasks,
    spent_tokens: spent.tokens,
    spent_cost: spent.cost,
    spent_ms: spent.ms,
    reserved_tokens: reserved.tokens,
    reserved_cost: reserved.cost,
    reserved_ms: reserved.ms,
    largest_tokens: largest.tokens,
    largest_cost: largest.cost,
    tasks: budget.tasks,
    live: budget.live,
    flying: budget.flying,
    unpriced: budget.unpriced,
    warned_at: budget.warnedAt,
    used_up_at: budget.usedUpAt,
    set_by: budget.setBy,
    set_at: budget.setAt,
  };
}
