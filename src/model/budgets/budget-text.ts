/**
 * Budgets as text: how people and models write limits (`$2 30min 500ktok 5tasks`), and the words in which budgets are
 * shown, refused and stopped. Pure.
 */
import { AsyncAgentsError } from "../errors.ts";
import {
  BUDGET_KINDS,
  type Budget,
  type BudgetLimits,
  isLimited,
  MEASURES,
  type Measure,
  NO_LIMITS,
  subjectOf,
} from "./budget.ts";
import { type Chain, exhausted, freeIn, fullest, type Shortage } from "./chain.ts";

const MINUTE_MS = 60_000;
const MOST = 1e12;
const EXAMPLE = "$2 30min 500ktok 5tasks";

/** What the errors of runs begin with that were stopped for a budget. */
const STOPPED = "stopped: the budget of ";

const FORMS: readonly { form: RegExp; name: keyof BudgetLimits; units: Readonly<Record<string, number>> }[] = [
  { form: /^\$(\d+(?:\.\d+)?)()$/, name: "cost", units: { "": 1 } },
  { form: /^(\d+(?:\.\d+)?)(min|h)$/, name: "ms", units: { min: MINUTE_MS, h: 60 * MINUTE_MS } },
  { form: /^(\d+(?:\.\d+)?)([kM]?)tok(?:ens)?$/, name: "tokens", units: { "": 1, k: 1_000, M: 1_000_000 } },
  { form: /^(\d+)()tasks?$/, name: "tasks", units: { "": 1 } },
];

/** Reads limits from a text; null if it is not one. `none` stands for no limits. */
export function parseBudget(text: string): BudgetLimits | null {
  const words = text.trim().split(/[\s,]+/);
  if (words.length === 1 && words[0] === "none") return NO_LIMITS;
  const limits: Record<keyof BudgetLimits, number | null> = { ...NO_LIMITS };
  for (const word of words) {
    const found = FORMS.flatMap(({ form, name, units }) => {
      const match = form.exec(word);
      return match ? [{ name, value: Number(match[1]) * (units[match[2] ?? ""] ?? 1) }] : [];
    })[0];
    if (found === undefined || limits[found.name] !== null || found.value > MOST) return null;
    limits[found.name] = found.value;
  }
  return isLimited(limits) ? limits : null;
}

/** Rejects what is not a budget, and says how one is written. */
export function requireBudget(text: string, field = "budget"): BudgetLimits {
  const limits = parseBudget(text);
  if (limits !== null) return limits;
  const message = `${field}: ${JSON.stringify(text.slice(0, 100))} is not a budget. Write it as "${EXAMPLE}": any of dollars, time (min, h), tokens (tok, ktok, Mtok) and tasks.`;
  throw new AsyncAgentsError("invalid_input", message, { details: { field } });
}

/** As `parseBudget` reads it. */
export function limitsText({ cost, ms, tokens, tasks }: BudgetLimits): string {
  const words = [
    cost === null ? "" : `$${cost}`,
    ms === null ? "" : `${round(ms / MINUTE_MS)}min`,
    tokens === null ? "" : `${tokens}tok`,
    tasks === null ? "" : `${tasks}tasks`,
  ].filter((word) => word !== "");
  return words.length === 0 ? "none" : words.join(" ");
}

export function amountText(measure: Measure | "tasks", amount: number): string {
  switch (measure) {
    case "cost":
      return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2)}`;
    case "ms":
      return `${round(amount / MINUTE_MS)} min`;
    case "tokens":
      return `${Math.round(amount).toLocaleString("en-US")} tokens`;
    case "tasks":
      return `${amount} ${amount === 1 ? "task" : "tasks"}`;
  }
}

/** What it is for: `batch bat_1`. */
export function subjectText({ id }: Pick<Budget, "id">): string {
  const subject = subjectOf(id);
  return subject === null ? id : `${subject.kind} ${subject.subject}`;
}

/** `$0.41 of $1.00, 12,000 tokens of 50,000 tokens, 2 of 5 tasks`; what has no limit is left out. */
export function usageText(budget: Budget): string {
  const { limits, spent, tasks, unpriced } = budget;
  const used = MEASURES.flatMap((measure) => {
    const limit = limits[measure];
    return limit === null ? [] : [`${amountText(measure, spent[measure])} of ${amountText(measure, limit)}`];
  });
  if (limits.tasks !== null) used.push(`${tasks} of ${amountText("tasks", limits.tasks)}`);
  const unknown = limits.cost !== null && unpriced > 0 ? [unpricedText(unpriced)] : [];
  return [...used, ...unknown].join(", ") || "no limits";
}

export function unpricedText(unpriced: number): string {
  return `cost unknown for ${amountText("tokens", unpriced)}`;
}

/** `82 % of the budget of batch bat_1 is used: …`. */
export function warningText(budget: Budget): string {
  const share = Math.floor((fullest(budget)?.share ?? 0) * 100);
  return `${share} % of the budget of ${subjectText(budget)} is used: ${usageText(budget)}`;
}

/** Why a run must stop; null if its budgets leave it something. */
export function budgetBreach(chain: Chain): string | null {
  const found = exhausted(chain);
  if (found === null) return null;
  const { budget, measure } = found;
  const limit = budget.limits[measure] ?? 0;
  const used = `${amountText(measure, budget.spent[measure])} of ${amountText(measure, limit)}`;
  const isUsed = budget.spent[measure] + 1e-9 >= limit;
  const state = isUsed ? `is used up (${used})` : `is used up but for what other tasks have reserved (${used} spent)`;
  return `${STOPPED}${subjectText(budget)} ${state}. What it did is in its session. A person can raise the budget (asyncagents budget set ${budget.id} …), then the task can be resumed.`;
}

export function isBudgetStop(error: string | null): boolean {
  return typeof error === "string" && error.startsWith(STOPPED);
}

const STOPPED_BY = new RegExp(`^${STOPPED}(${BUDGET_KINDS.join("|")}) (.+?) is used up \\(`, "s");

/** The id of the budget that was used up and stopped a run; null if something else ended it. */
export function budgetThatStopped(error: string | null): string | null {
  const [, kind, subject] = STOPPED_BY.exec(error ?? "") ?? [];
  return kind === undefined || subject === undefined ? null : `${kind}:${subject}`;
}

/** The rejection of a launch or a resume that does not fit. */
export function overBudget(shortage: Shortage): AsyncAgentsError {
  const { budget, measure } = shortage;
  const limit = budget.limits[measure] ?? 0;
  const raise = `asyncagents budget set ${budget.id} …`;
  const details = { budget: budget.id, measure, limit };
  if (measure === "tasks") {
    const message = `The budget of ${subjectText(budget)} allows ${amountText("tasks", limit)}, and all of them were launched. Do the work yourself, or ask a person to raise it (${raise}).`;
    return new AsyncAgentsError("over_budget", message, { details: { ...details, left: 0 } });
  }
  const left = Math.max(0, (freeIn(budget, measure) ?? 0) + shortage.needed);
  const reserved = budget.reserved[measure] - shortage.needed;
  const kept = reserved > 1e-9 ? `, ${amountText(measure, reserved)} reserved for running tasks` : "";
  const needs = shortage.needed > 0 ? `, and this task is to have ${amountText(measure, shortage.needed)}` : "";
  const message = `The budget of ${subjectText(budget)} has ${amountText(measure, left)} left of ${amountText(measure, limit)} (${amountText(measure, budget.spent[measure])} spent${kept})${needs}. Ask for less, wait until tasks end, or ask a person to raise it (${raise}).`;
  return new AsyncAgentsError("over_budget", message, { details: { ...details, left } });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
