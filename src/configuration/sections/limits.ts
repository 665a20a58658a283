/** The limits of runs: in the daemon, and in OpenCode with the plugin. What they do is in `src/model/limits.ts`. */
import { z } from "zod";
import { parseBudget } from "../../model/budgets/budget-text.ts";
import type { Prices } from "../../model/budgets/prices.ts";
import { DEFAULT_LIMITS, STALL_POLICIES } from "../../model/limits.ts";
import { optional, setting } from "../section.ts";
import { amount, amountsByName, oneOf, text, type ValueKind, wholeNumber } from "../value-kinds.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const budget = text('a budget such as "$2 30min 500ktok 5tasks"', (given) => parseBudget(given) !== null);

const dollars = z.number().nonnegative();

const prices: ValueKind<Prices> = {
  schema: z.record(
    z.string().min(1),
    z.strictObject({
      input: dollars,
      output: dollars,
      cacheRead: dollars.optional(),
      cacheWrite: dollars.optional(),
    }),
  ),
  allowed:
    'prices by model, such as { "my-model": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }',
  fromText(given) {
    try {
      return JSON.parse(given);
    } catch {
      return given;
    }
  },
};

export const limits = {
  means: "What runs may use, and how many run at once. They hold for the daemon, and for OpenCode with the plugin.",
  settings: {
    maxConcurrent: optional(wholeNumber(), {
      means: "At most this many tasks run at once in a process; the others are queued.",
      variable: "ASYNCAGENTS_MAX_CONCURRENT",
      pluginOption: true,
      otherwise: "16 in the daemon, no limit in OpenCode",
    }),
    maxQueued: setting(wholeNumber(), {
      means: "At most this many tasks are queued in the daemon; then launches are refused.",
      variable: "ASYNCAGENTS_MAX_QUEUED",
      default: 200,
    }),
    maxDepth: setting(wholeNumber({ max: 8 }), {
      means: "How deeply tasks may launch tasks. With 1, background agents cannot launch any.",
      variable: "ASYNCAGENTS_MAX_DEPTH",
      pluginOption: true,
      default: 1,
    }),
    maxMinutes: optional(amount(), {
      means: "A run that works longer is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_MINUTES",
      pluginOption: true,
      otherwise: "no limit",
    }),
    maxCost: optional(amount(), {
      means: "A run that costs more dollars is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_COST",
      pluginOption: true,
      otherwise: "no limit",
    }),
    taskBudget: optional(budget, {
      means: "What each task, with everything below it, may use in all its runs.",
      variable: "ASYNCAGENTS_TASK_BUDGET",
      pluginOption: true,
      otherwise: "no limit",
    }),
    batchBudget: optional(budget, {
      means: "What the tasks of a batch, with everything below them, may use together.",
      variable: "ASYNCAGENTS_BATCH_BUDGET",
      pluginOption: true,
      otherwise: "no limit",
    }),
    sessionBudget: optional(budget, {
      means: "What everything below a session that launches tasks may use together.",
      variable: "ASYNCAGENTS_SESSION_BUDGET",
      pluginOption: true,
      otherwise: "no limit",
    }),
    prices: setting(prices, {
      means: "What models cost whose host does not say, by name, in dollars per million tokens.",
      variable: "ASYNCAGENTS_PRICES",
      pluginOption: true,
      default: {},
    }),
    maxRepeats: setting(wholeNumber(), {
      means: "A run that makes the same tool call more often in a row is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_REPEATS",
      pluginOption: true,
      default: DEFAULT_LIMITS.repeats,
    }),
    stallMinutes: setting(amount(), {
      means: "A run without activity for this long is stalled; stallPolicy says what happens then.",
      variable: "ASYNCAGENTS_STALL_MINUTES",
      pluginOption: true,
      default: DEFAULT_LIMITS.stallMs / MINUTE_MS,
    }),
    stallTools: setting(amountsByName('minutes by tool, such as { "bash": 30 }; in a variable, bash=30,task=60'), {
      means: "Other times than stallMinutes for a run whose newest call is of a slow tool.",
      variable: "ASYNCAGENTS_STALL_TOOLS",
      pluginOption: true,
      default: {},
    }),
    stallPolicy: setting(oneOf(STALL_POLICIES), {
      means:
        "tell: a stalled run is only shown; stop: it ends with an error; restart: it is stopped and told to go on.",
      variable: "ASYNCAGENTS_STALL_POLICY",
      pluginOption: true,
      default: DEFAULT_LIMITS.stallPolicy,
    }),
    stallRestarts: setting(wholeNumber(), {
      means: "How often a run is restarted; a run that stalls again ends with an error.",
      variable: "ASYNCAGENTS_STALL_RESTARTS",
      pluginOption: true,
      default: DEFAULT_LIMITS.stallRestarts,
    }),
    maxRetries: setting(wholeNumber(), {
      means: "A run whose provider fails more often in a row ends with an error.",
      variable: "ASYNCAGENTS_MAX_RETRIES",
      pluginOption: true,
      default: DEFAULT_LIMITS.retries,
    }),
    maxRetryMinutes: setting(amount(), {
      means: "A run whose provider fails for longer ends with an error.",
      variable: "ASYNCAGENTS_MAX_RETRY_MINUTES",
      pluginOption: true,
      default: DEFAULT_LIMITS.retryMs / MINUTE_MS,
    }),
    maxQuotaWaits: setting(wholeNumber({ min: 0 }), {
      means: "How often a run waits for a provider that says when it will be back; 0 ends the run instead.",
      variable: "ASYNCAGENTS_MAX_QUOTA_WAITS",
      pluginOption: true,
      default: DEFAULT_LIMITS.quotaWaits,
    }),
    maxQuotaHours: setting(amount(), {
      means: "For how long in all. A run that would have to wait longer ends with an error.",
      variable: "ASYNCAGENTS_MAX_QUOTA_HOURS",
      pluginOption: true,
      default: DEFAULT_LIMITS.quotaMs / HOUR_MS,
    }),
  },
};
