/**
 * The settings of all simulated engines: the default ones, with a limit that ends agents which hang, and with polls
 * that are slower in most seeds. What a poll repairs is then visible for longer, and a seed takes fewer steps. In some
 * seeds notices are sent again sooner, so that many tries fit into the storm; in some, runs wait for each other, or
 * count as stalled soon; in a third, all launches count in budgets.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../src/engine/context.ts";
import { NO_LIMITS } from "../../src/model/budgets/budget.ts";
import type { Random } from "../time/random.ts";

const POLLS_MS = [DEFAULT_SETTINGS.pollMs, 10_000, 20_000];
const MOST_LEASE_POLL_MS = 10_000;
const NOTICE_RETRIES_MS = [DEFAULT_SETTINGS.noticeRetryMs, 200];

const STALLS_MS = [DEFAULT_SETTINGS.limits.stallMs, 60_000];
/** Most agents that hang end in peace; in some seeds, limits strike in the storm. */
const RUNS_MS = [360_000, 360_000, 360_000, 120_000, 60_000];
const STALL_POLICIES = [
  DEFAULT_SETTINGS.limits.stallPolicy,
  DEFAULT_SETTINGS.limits.stallPolicy,
  "stop",
  "restart",
] as const;
const CONCURRENT = [null, null, 2];
/** Large ones: they are counted, and never used up. */
const COUNTED = {
  session: { ...NO_LIMITS, cost: 1_000_000, ms: 1e12 },
  task: { ...NO_LIMITS, cost: 1_000, ms: 1e9 },
};
const BUDGETS = [{}, {}, COUNTED];

export interface SimulatedSettings extends Settings {
  /** How many runs a process does at once; null for any number. */
  maxConcurrent: number | null;
}

/** With `areSeveral`, others must look at leases often enough to tell a dead machine from an outage. */
export function settingsOf(random: Random, areSeveral: boolean): SimulatedSettings {
  const own = random.split("limits");
  const limits = {
    runMs: own.pick(RUNS_MS),
    stallMs: random.pick(STALLS_MS),
    stallPolicy: own.pick(STALL_POLICIES),
  };
  return {
    ...DEFAULT_SETTINGS,
    limits: { ...DEFAULT_SETTINGS.limits, ...limits },
    maxConcurrent: random.pick(CONCURRENT),
    launchPauseMs: 50,
    budgets: random.pick(BUDGETS),
    pollMs: Math.min(random.pick(POLLS_MS), areSeveral ? MOST_LEASE_POLL_MS : Number.POSITIVE_INFINITY),
    noticeRetryMs: random.pick(NOTICE_RETRIES_MS),
  };
}
