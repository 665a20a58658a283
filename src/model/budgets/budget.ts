/**
 * A budget: how much a task, a batch or everything below a session may use, and how much of that is used. Plain data.
 * What a task's work means for the budgets that it counts in is in `chain.ts`.
 */

/** What work uses up: tokens, dollars, working time in ms. */
export const MEASURES = ["tokens", "cost", "ms"] as const;
export type Measure = (typeof MEASURES)[number];
export type Amounts = Readonly<Record<Measure, number>>;

export const NOTHING: Amounts = { tokens: 0, cost: 0, ms: 0 };

/** Null for no limit. `tasks`: how many may ever be launched. */
export interface BudgetLimits extends Readonly<Record<Measure | "tasks", number | null>> {}

export const NO_LIMITS: BudgetLimits = { tokens: null, cost: null, ms: null, tasks: null };

/** What a launch sets: a budget for the task itself, and for its batch and its session if they have none yet. */
export interface NewBudgets {
  task?: BudgetLimits | undefined;
  batch?: BudgetLimits | undefined;
  session?: BudgetLimits | undefined;
}

export const BUDGET_KINDS = ["task", "batch", "session"] as const;
/**
 * `task`: a task and everything below it. `batch`: its tasks and everything below them. `session`: everything below a
 * session that launches and is not a task itself.
 */
export type BudgetKind = (typeof BUDGET_KINDS)[number];

export interface Budget {
  /** Its kind and what it is for, such as `batch:bat_1`. */
  readonly id: string;
  readonly limits: BudgetLimits;
  readonly spent: Amounts;
  /** How many tasks were launched below it. */
  readonly tasks: number;
  /** How many of them are live. */
  readonly live: number;
  /** What live tasks with budgets of their own may still use: nobody else may. */
  readonly reserved: Amounts;
  /** Requests to models that were begun and are not counted yet. */
  readonly flying: number;
  /** The most that one request has used so far. */
  readonly largest: Amounts;
  /** Tokens that are not part of `spent.cost`, because their model has no known price. */
  readonly unpriced: number;
  /** When 80 % was reached, and when it was used up; once for the same limits. */
  readonly warnedAt: number | null;
  readonly usedUpAt: number | null;
  /** Who set its limits last, and when. */
  readonly setBy: string;
  readonly setAt: number;
}

export function budgetId(kind: BudgetKind, subject: string): string {
  return `${kind}:${subject}`;
}

/** Null if it is not the id of a budget. */
export function subjectOf(id: string): { kind: BudgetKind; subject: string } | null {
  const [kind, ...rest] = id.split(":");
  const subject = rest.join(":");
  const known = BUDGET_KINDS.find((each) => each === kind);
  return known === undefined || subject === "" ? null : { kind: known, subject };
}

export function newBudget(id: string, limits: BudgetLimits, { by, at }: { by: string; at: number }): Budget {
  return {
    id,
    limits,
    spent: NOTHING,
    tasks: 0,
    live: 0,
    reserved: NOTHING,
    flying: 0,
    largest: NOTHING,
    unpriced: 0,
    warnedAt: null,
    usedUpAt: null,
    setBy: by,
    setAt: at,
  };
}

export function isLimited(limits: BudgetLimits): boolean {
  return Object.values(limits).some((limit) => limit !== null);
}

/** Whether the new limits allow nothing that the old ones do not. */
export function isLower(now: BudgetLimits, before: BudgetLimits): boolean {
  return (["tokens", "cost", "ms", "tasks"] as const).every((name) => {
    const [next, old] = [now[name], before[name]];
    return old === null || (next !== null && next <= old);
  });
}

/** What both allow. */
export function stricter(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  const least = (name: keyof BudgetLimits) => {
    const [a, b] = [one[name], other[name]];
    return a === null || b === null ? (a ?? b) : Math.min(a, b);
  };
  return { tokens: least("tokens"), cost: least("cost"), ms: least("ms"), tasks: least("tasks") };
}

export function eachMeasure(amount: (measure: Measure) => number): Amounts {
  return { tokens: amount("tokens"), cost: amount("cost"), ms: amount("ms") };
}
