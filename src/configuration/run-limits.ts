/** The limits of runs in the units of the rules, from the configuration. Judges nothing: the configuration did. */
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { Configuration } from "./sections.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function runLimits(limits: Configuration["limits"]): Limits {
  const tools = Object.entries(limits.stallTools);
  return {
    stallMs: limits.stallMinutes * MINUTE_MS,
    stallToolMs: Object.fromEntries(tools.map(([name, minutes]) => [name.toLowerCase(), minutes * MINUTE_MS])),
    stallPolicy: limits.stallPolicy,
    stallRestarts: limits.stallRestarts,
    retries: limits.maxRetries,
    retryMs: limits.maxRetryMinutes * MINUTE_MS,
    quotaWaits: limits.maxQuotaWaits,
    quotaMs: limits.maxQuotaHours * HOUR_MS,
    hostWaitMs: DEFAULT_LIMITS.hostWaitMs,
    runMs: limits.maxMinutes === undefined ? null : limits.maxMinutes * MINUTE_MS,
    cost: limits.maxCost ?? null,
    repeats: limits.maxRepeats,
  };
}
