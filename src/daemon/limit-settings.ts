/** The daemon's limits, in the units of the rules, from the configuration. Judges nothing: the configuration did. */

import { budgetSettings } from "../configuration/budget-settings.ts";
import { runLimits } from "../configuration/run-limits.ts";
import type { Configuration } from "../configuration/sections.ts";
import type { RetentionLimits } from "../engine/retention.ts";
import type { NewBudgets } from "../model/budgets/budget.ts";
import type { Prices } from "../model/budgets/prices.ts";
import type { Limits } from "../model/limits.ts";
import type { RequestRule } from "../model/request-policy.ts";

const DAY_MS = 86_400_000;
const MAX_CONCURRENT = 16;

interface LimitSettings {
  limits: Limits;
  maxConcurrent: number;
  /** How many runs may be queued when all slots are in use. */
  maxQueued: number;
  /** 1: an agent that we started launches none. */
  maxDepth: number;
  /** The budgets of launches that bring none, and what models cost whose host does not say. */
  budgets: NewBudgets;
  prices: Prices;
  /** Written rules about what agents ask. */
  rules: readonly RequestRule[];
  /** Nothing is pruned unless it says so. */
  retention: RetentionLimits;
}

export function limitSettings({
  limits,
  history,
  inbox,
}: Pick<Configuration, "limits" | "history" | "inbox">): LimitSettings {
  const { maxConcurrent, maxQueued, maxDepth } = limits;
  const { keepDays, keepTasks } = history;
  return {
    limits: runLimits(limits),
    maxConcurrent: maxConcurrent ?? MAX_CONCURRENT,
    maxQueued,
    maxDepth,
    budgets: budgetSettings(limits),
    prices: limits.prices,
    rules: inbox.policies,
    retention: { olderThanMs: keepDays === undefined ? undefined : keepDays * DAY_MS, keep: keepTasks },
  };
}
