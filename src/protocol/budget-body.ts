/** A budget as people type it, in the form of the API. What is not named stays; `none` removes all limits. Pure. */
import { requireBudget } from "../model/budgets/budget-text.ts";
import type { BudgetBody } from "./budgets.ts";

const MINUTE_MS = 60_000;

export function budgetBody(text: string): BudgetBody {
  const { cost, tokens, ms, tasks } = requireBudget(text);
  if (text.trim() === "none") return { cost, tokens, minutes: ms, tasks };
  return {
    ...(cost !== null && { cost }),
    ...(tokens !== null && { tokens }),
    ...(ms !== null && { minutes: ms / MINUTE_MS }),
    ...(tasks !== null && { tasks }),
  };
}
