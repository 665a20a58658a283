/** What a run may take: when it is called stalled, and when it is stopped, with the words for that. Pure. */

export interface Limits {
  /** Without a sign of work for so long, a run is called stalled, in ms. */
  stallMs: number;
  /** The longest that a run may work, in ms; null for no limit. */
  runMs: number | null;
  /** The most that a run may cost, in dollars; null for no limit. */
  cost: number | null;
  /** How often in a row an agent may make the very same tool call. */
  repeats: number;
}

/** What one run may take instead of what is set for all of them. */
export type RunLimits = Partial<Pick<Limits, "runMs" | "cost">>;

export const DEFAULT_LIMITS: Limits = { stallMs: 10 * 60_000, runMs: null, cost: null, repeats: 50 };

/** How a run stands. */
export interface Standing {
  /** How long it has worked, without the time in which it waited for a person. */
  workedMs: number;
  /** How long nothing has been seen of it. */
  quietMs: number;
  /** What it alone has cost, in dollars. */
  cost: number;
  /** The tool call that it made most often in a row lately. */
  repeated: { tool: string; times: number } | null;
}

/** Why the run must be stopped; null while it is within its limits. */
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

export function costBreach(cost: number, limit: number): string {
  return `stopped: the run has cost $${cost.toFixed(2)}, and the limit is $${limit.toFixed(2)}. What it did is in its session.`;
}

export function isStalled({ quietMs }: Standing, { stallMs }: Limits): boolean {
  return quietMs >= stallMs;
}
