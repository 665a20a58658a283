/** Converts budgets to the wire format: minutes, ISO times, and a line for people. Pure. */
import { type Budget, type BudgetLimits, subjectOf } from "../model/budgets/budget.ts";
import { usageText } from "../model/budgets/budget-text.ts";
import { fullest } from "../model/budgets/chain.ts";
import type { BudgetBody, WireBudget } from "../protocol/budgets.ts";
import { iso, isoOrNull } from "./wire.ts";

const MINUTE_MS = 60_000;

export function wireBudget(budget: Budget): WireBudget {
  const { id, limits, spent, reserved, tasks, unpriced, live, warnedAt, usedUpAt, setBy, setAt } = budget;
  const { kind, subject } = subjectOf(id) ?? { kind: "task" as const, subject: id };
  return {
    id,
    kind,
    subject,
    limits: {
      cost: limits.cost,
      tokens: limits.tokens,
      minutes: limits.ms === null ? null : limits.ms / MINUTE_MS,
      tasks: limits.tasks,
    },
    spent: { cost: spent.cost, tokens: spent.tokens, minutes: spent.ms / MINUTE_MS, tasks },
    reserved: { cost: reserved.cost, tokens: reserved.tokens, minutes: reserved.ms / MINUTE_MS },
    unpricedTokens: unpriced,
    share: fullest(budget)?.share ?? 0,
    live,
    warnedAt: isoOrNull(warnedAt),
    usedUpAt: isoOrNull(usedUpAt),
    setBy,
    setAt: iso(setAt),
    text: usageText(budget),
  };
}

/** What is not given stays as it is. */
export function limitsOf({ cost, tokens, minutes, tasks }: BudgetBody): Partial<BudgetLimits> {
  return {
    ...(cost !== undefined && { cost }),
    ...(tokens !== undefined && { tokens }),
    ...(minutes !== undefined && { ms: minutes === null ? null : minutes * MINUTE_MS }),
    ...(tasks !== undefined && { tasks }),
  };
}
