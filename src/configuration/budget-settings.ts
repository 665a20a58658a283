/** The budgets of launches that bring none, from the configuration, which has judged them. Pure. */
import type { BudgetLimits, NewBudgets } from "../model/budgets/budget.ts";
import { parseBudget } from "../model/budgets/budget-text.ts";
import type { Configuration } from "./sections.ts";

export function budgetSettings({ taskBudget, batchBudget, sessionBudget }: Configuration["limits"]): NewBudgets {
  const limitsOf = (text: string | undefined): BudgetLimits | undefined =>
    text === undefined ? undefined : (parseBudget(text) ?? undefined);
  return { task: limitsOf(taskBudget), batch: limitsOf(batchBudget), session: limitsOf(sessionBudget) };
}
