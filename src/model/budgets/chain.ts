/**
 * The budgets that one task counts in, nearest first: its own, its batch's, its parent's, and so on. Pure. What is
 * reserved follows from live tasks and their limits, what is spent from their progress. A task with a budget of its own
 * reserves what it may still use in those around it, up to the next task's budget, which covers it. All others
 * share what is neither spent nor reserved.
 */
import {
  type Amounts,
  type Budget,
  budgetId,
  eachMeasure,
  MEASURES,
  type Measure,
  NOTHING,
  subjectOf,
} from "./budget.ts";

export type Chain = readonly Budget[];

/** What an event of a task changed. */
export interface BudgetStep {
  taskId: string;
  /** What was used since the last event; less than nothing if an estimate was corrected. */
  used: Amounts;
  unpriced: number;
  /** 1 for a new task. */
  tasks: number;
  /** 1 if a run began, -1 if it ended. */
  live: number;
  at: number;
}

export type Shortage =
  | { budget: Budget; measure: "tasks" }
  /** `needed`: what was to be reserved; 0 if any would have done. */
  | { budget: Budget; measure: Measure; needed: number };

/** Whether a task may begin its next request to a model. `wait`: others' requests may use up what is left. */
export type RequestVerdict = { verdict: "go" } | { verdict: "wait"; isFirst: boolean } | { verdict: "stop" };

/** The share of a budget at which a warning is due. */
export const WARNING = 0.8;
/** Sums of fractions are not exact. */
const TINY = 1e-9;

/** The budgets after an event. Warnings and ends are marked once. */
export function changedChain(chain: Chain, step: BudgetStep): Chain {
  const isRequest = step.used.tokens > 0 || step.used.cost > 0;
  const spent = chain.map((budget): Budget => {
    const isOwn = budget.id === budgetId("task", step.taskId);
    return {
      ...budget,
      spent: eachMeasure((measure) => Math.max(0, budget.spent[measure] + step.used[measure])),
      largest: isRequest
        ? eachMeasure((measure) => Math.max(budget.largest[measure], step.used[measure]))
        : budget.largest,
      unpriced: Math.max(0, budget.unpriced + step.unpriced),
      // A task is not below itself.
      tasks: budget.tasks + (isOwn ? 0 : step.tasks),
      live: Math.max(0, budget.live + step.live),
    };
  });
  return withReserved(chain, spent).map((budget) => marked(budget, step.at));
}

/** Moves what the task budgets of a chain reserve in the others from what it was to what it is. */
export function withReserved(before: Chain, after: Chain): Chain {
  const [old, now] = [reservedBy(before), reservedBy(after)];
  return after.map((budget, index) => ({
    ...budget,
    reserved: eachMeasure((measure) =>
      Math.max(0, budget.reserved[measure] + (now[index]?.[measure] ?? 0) - (old[index]?.[measure] ?? 0)),
    ),
  }));
}

/** What the task budgets of a chain reserve in each of its budgets. */
export function reservedBy(chain: Chain): Amounts[] {
  return chain.map((outer, index) =>
    eachMeasure((measure) => {
      if (outer.limits[measure] === null) return 0;
      const holder = coverOf(chain, index, measure);
      return holder === null ? 0 : keptBy(holder, measure);
    }),
  );
}

/** The task budget next inside of that one, which limits the same: what is further in is part of its share. */
function coverOf(chain: Chain, index: number, measure: Measure): Budget | null {
  for (const inner of chain.slice(0, index).toReversed()) {
    if (kindOf(inner) === "task" && inner.limits[measure] !== null) return inner;
  }
  return null;
}

/** What a live task's budget still needs. */
export function keptBy({ limits, spent, live }: Budget, measure: Measure): number {
  const limit = limits[measure];
  return limit === null || live === 0 ? 0 : Math.max(0, limit - spent[measure]);
}

/** What nobody has spent or reserved; null without a limit. */
export function freeIn({ limits, spent, reserved }: Budget, measure: Measure): number | null {
  const limit = limits[measure];
  return limit === null ? null : limit - spent[measure] - reserved[measure];
}

/** Why a run cannot begin, given the budgets as they would be with it; null if it can. */
export function shortageIn(chain: Chain, isNew: boolean): Shortage | null {
  for (const [index, budget] of chain.entries()) {
    const { tasks } = budget.limits;
    if (isNew && tasks !== null && budget.tasks > tasks) return { budget, measure: "tasks" };
    for (const measure of MEASURES) {
      const free = freeIn(budget, measure);
      if (free === null) continue;
      const cover = coverOf(chain, index, measure);
      const needed = cover === null ? 0 : keptBy(cover, measure);
      // What is covered by a budget that was there before, was reserved then.
      const isShort = cover === null ? free <= TINY : free < -TINY;
      if (isShort) return { budget, measure, needed };
    }
  }
  return null;
}

/** The first budget of the chain that leaves the task nothing; null if it may go on. */
export function exhausted(chain: Chain): { budget: Budget; measure: Measure } | null {
  for (const [index, budget] of chain.entries()) {
    for (const measure of MEASURES) {
      const free = freeIn(budget, measure);
      if (free === null) continue;
      // Once it is used up, nobody goes on: not even those for whom something was reserved.
      const isOver = free + budget.reserved[measure] <= TINY;
      if (isOver || (free <= TINY && coverOf(chain, index, measure) === null)) return { budget, measure };
    }
  }
  return null;
}

/**
 * `own`: for each budget, 1 if this task's last request counts as flying there, else 0. `disregarded`: how many of the
 * others are not waited for any more.
 */
export function requestVerdict(chain: Chain, own: readonly number[], disregarded = 0): RequestVerdict {
  if (exhausted(chain) !== null) return { verdict: "stop" };
  for (const [index, budget] of chain.entries()) {
    const others = budget.flying - (own[index] ?? 0) - disregarded;
    if (others <= 0) continue;
    for (const measure of ["tokens", "cost"] as const) {
      const free = freeIn(budget, measure);
      if (free === null || coverOf(chain, index, measure) !== null) continue;
      const isFirst = budget.largest.tokens === 0;
      if (isFirst || free - others * budget.largest[measure] <= TINY) return { verdict: "wait", isFirst };
    }
  }
  return { verdict: "go" };
}

/** The budgets in which a request of the task counts as under way: not where all that it may use is reserved. */
export function sharedIn(chain: Chain): Budget[] {
  return chain.filter(({ limits }, index) =>
    (["tokens", "cost"] as const).some(
      (measure) => limits[measure] !== null && coverOf(chain, index, measure) === null,
    ),
  );
}

/** The measure of which most is used, with its share; null without a limit. */
export function fullest({ limits, spent }: Budget): { measure: Measure; share: number } | null {
  const shares = MEASURES.flatMap((measure) => {
    const limit = limits[measure];
    return limit === null ? [] : [{ measure, share: limit <= 0 ? 1 : spent[measure] / limit }];
  });
  return shares.sort((one, other) => other.share - one.share)[0] ?? null;
}

export function isUsedUp(budget: Budget): boolean {
  return (fullest(budget)?.share ?? 0) >= 1 - TINY;
}

function marked(budget: Budget, at: number): Budget {
  const share = fullest(budget)?.share ?? 0;
  const warnedAt = budget.warnedAt ?? (share >= WARNING - TINY ? at : null);
  // An estimate may have been corrected: then it is not used up any more, and may be again.
  return { ...budget, warnedAt, usedUpAt: isUsedUp(budget) ? (budget.usedUpAt ?? at) : null };
}

/** With other limits, warnings are due again. */
export function withLimits(budget: Budget, limits: Budget["limits"], { by, at }: { by: string; at: number }): Budget {
  const { warnedAt, usedUpAt } = budget;
  const next = { ...budget, limits, setBy: by, setAt: at, warnedAt: null, usedUpAt: null };
  const now = marked(next, at);
  return { ...now, warnedAt: now.warnedAt && (warnedAt ?? at), usedUpAt: now.usedUpAt && (usedUpAt ?? at) };
}

/** What all task budgets inside of a budget reserve there. `chains`: of the tasks that these budgets belong to. */
export function allReserved(id: string, chains: readonly Chain[]): Amounts {
  return chains.reduce((sum, chain) => {
    const index = chain.findIndex((budget) => budget.id === id);
    const own = chain[0];
    const outer = chain[index];
    if (index < 1 || own === undefined || outer === undefined || kindOf(own) !== "task") return sum;
    return eachMeasure((measure) => {
      if (outer.limits[measure] === null || coverOf(chain, index, measure) !== own) return sum[measure];
      return sum[measure] + keptBy(own, measure);
    });
  }, NOTHING);
}

function kindOf({ id }: Budget) {
  return subjectOf(id)?.kind ?? null;
}
