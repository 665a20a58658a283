/**
 * Cost by day and model, from what the server counted: the days of a range in local time, and the models with the
 * largest amounts; the others together are one more. Pure.
 */
import type { StatsUsage } from "../../../src/protocol/statistics.ts";
import { totalTokens } from "../wording/amounts.ts";

export const USAGE_DAYS = [7, 30, 90] as const;
export type UsageDays = (typeof USAGE_DAYS)[number];

const DAY_MS = 86_400_000;
const MOST_MODELS = 6;
export const OTHER_MODELS = "other models";
export const UNNAMED_MODEL = "model chosen by the host";

export interface ModelTotal {
  /** As it is shown. */
  model: string;
  tasks: number;
  tokens: number;
  cost: number;
  /** How many tasks have tokens and no cost. */
  unpriced: number;
}

export interface UsageDay {
  at: string;
  /** In the order of the models. */
  models: ModelTotal[];
  total: ModelTotal;
}

export interface DailyUsage {
  /** Largest first. */
  models: ModelTotal[];
  days: UsageDay[];
  total: ModelTotal;
}

/** Whole days up to the end of today. On a day when clocks change, its edge is an hour off. */
export function usageQuery(days: number, now: Date): { from: string; to: string; buckets: number } {
  const end = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return { from: new Date(end.getTime() - days * DAY_MS).toISOString(), to: end.toISOString(), buckets: days };
}

export function dailyUsage({ from, to, bucketMs, usage }: StatsUsage): DailyUsage {
  const sums = new Map<string, ModelTotal>();
  for (const row of usage) add(sums, row.model ?? UNNAMED_MODEL, row);
  const sorted = [...sums.values()].sort((one, other) => other.cost - one.cost || other.tokens - one.tokens);
  const named = new Set(
    sorted.slice(0, sorted.length > MOST_MODELS ? MOST_MODELS - 1 : MOST_MODELS).map(({ model }) => model),
  );
  const nameOf = (model: string | null) =>
    named.has(model ?? UNNAMED_MODEL) ? (model ?? UNNAMED_MODEL) : OTHER_MODELS;
  const models = new Map([...named].map((model) => [model, none(model)]));
  const total = none("total");
  const first = Date.parse(from);
  const steps = Math.max(1, Math.round((Date.parse(to) - first) / bucketMs));
  const days = Array.from({ length: steps }, (_, step) => ({
    at: new Date(first + step * bucketMs).toISOString(),
    models: new Map<string, ModelTotal>(),
  }));
  for (const row of usage) {
    const day = days[Math.min(steps - 1, Math.max(0, Math.round((Date.parse(row.at) - first) / bucketMs)))];
    if (day) add(day.models, nameOf(row.model), row);
    add(models, nameOf(row.model), row);
    increase(total, row);
  }
  return {
    models: [...models.values()],
    total,
    days: days.map((day) => {
      const own = [...models.keys()].map((model) => day.models.get(model) ?? none(model));
      const sum = none("total");
      for (const each of own) merge(sum, each);
      return { at: day.at, models: own, total: sum };
    }),
  };
}

function none(model: string): ModelTotal {
  return { model, tasks: 0, tokens: 0, cost: 0, unpriced: 0 };
}

type Row = StatsUsage["usage"][number];

function add(totals: Map<string, ModelTotal>, model: string, row: Row): void {
  const total = totals.get(model) ?? none(model);
  increase(total, row);
  totals.set(model, total);
}

function increase(total: ModelTotal, { tasks, tokens, cost, unpriced = 0 }: Row): void {
  merge(total, { model: "", tasks, tokens: totalTokens(tokens), cost, unpriced });
}

function merge(total: ModelTotal, { tasks, tokens, cost, unpriced }: ModelTotal): void {
  total.tasks += tasks;
  total.tokens += tokens;
  total.cost += cost;
  total.unpriced += unpriced;
}
