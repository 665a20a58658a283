/**
 * The limits of a run: when it counts as stalled, when it is stopped, and the error text for that. Pure.
 */

export interface Limits {
  /** A run without any activity for this long counts as stalled, in ms. */
  stallMs: number;
  /** The maximum working time of a run, in ms; null for no limit. */
  runMs: number | null;
  /** The maximum cost of a run, in dollars; null for no limit. */
  cost: number | null;
  /** How often in a row an agent may repeat the same tool call. */
  repeats: number;
}

/** Limits that can be set for a single run. */
export type RunLimits = Partial<Pick<Limits, "runMs" | "cost">>;

export const DEFAULT_LIMITS: Limits = { stallMs: 10 * 60_000, runMs: null, cost: null, repeats: 50 };

/** What a run has used so far. */
export interface Standing {
  /** Working time, excluding the time spent waiting for a person. */
  workedMs: number;
  /** Time since its last activity. */
  quietMs: number;
  /** Cost of this run alone, in dollars. */
  cost: number;
  /** The tool call that it has been repeating. */
  repeated: { tool: string; times: number } | null;
}

/** Why the run must be stopped; null if it is within its limits. */
export function breachOf({ workedMs, cost, repeated }: Standing, limits: Limits): string | null {
  if (repeated !== null && repeated.times > limits.repeats) {
    return `stopped: the agent called ${repeated.tool} with the same arguments ${repeated.times} times in a row, and the limit is ${limits.repeats}. What it did is in its session.`;
  }
  if (limits.cost !== null && cost > limits.cost) {
    return costBreach(cost, limits.cost);
  }
  if (limits.runMs !== null && workedMs > limits.runMs) {
    const minutes = Math.round(limits.runMs / 6000) / 10;
    return `stopped: the run took longer than ${minutes} minutes, which is the limit. What it did is in its session.`;
  }
  return null;
}

/** Whether an error is one of those with which a run is stopped at a limit. */
export function isBreach(error: string): boolean {
  return error.startsWith("stopped: the ");
}

export function costBreach(cost: number, limit: number): string {
  return `stopped: the run has cost $${cost.toFixed(2)}, and the limit is $${limit.toFixed(2)}. What it did is in its session.`;
}

export function isStalled({ quietMs }: Standing, { stallMs }: Limits): boolean {
  return quietMs >= stallMs;
}
