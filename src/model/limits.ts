/**
 * The limits of a run: when it counts as stalled, how long it may wait for its provider, when it is stopped, and the
 * error text for that. Pure.
 */

export const STALL_POLICIES = ["tell", "stop", "restart"] as const;
/** What happens to a stalled run: it is only shown, it ends, or it is stopped and told to go on. */
export type StallPolicy = (typeof STALL_POLICIES)[number];

export interface Limits {
  /** A run without any activity for this long counts as stalled, in ms. */
  stallMs: number;
  /** The same for a run whose newest tool call is of that tool, by its name in lower case. */
  stallToolMs: Readonly<Record<string, number>>;
  stallPolicy: StallPolicy;
  /** How often a run is restarted; then it ends. */
  stallRestarts: number;
  /** How often a host may try again in a row before the run ends. */
  retries: number;
  /** For how long, in ms. */
  retryMs: number;
  /** How often a run may wait for a quota. */
  quotaWaits: number;
  /** How long it may wait in all, in ms. */
  quotaMs: number;
  /** A host that waits by itself is left alone for this long; it loses its place in a longer wait when it dies. */
  hostWaitMs: number;
  /** The maximum working time of a run, in ms; null for no limit. */
  runMs: number | null;
  /** The maximum cost of a run, in dollars; null for no limit. */
  cost: number | null;
  /** How often in a row an agent may repeat the same tool call. */
  repeats: number;
}

/** Limits that can be set for a single run. */
export type RunLimits = Partial<Pick<Limits, "runMs" | "cost">>;

/** What whoever launches a run sets for it. An agent lowers what is configured; a person may raise it, too. */
export function limitsOf(
  { limits = {}, isAgents = false }: { limits?: RunLimits; isAgents?: boolean },
  configured: RunLimits,
): RunLimits {
  if (!isAgents) return limits;
  const least = (name: keyof RunLimits) => {
    const given = [limits[name], configured[name]].filter((each) => each != null);
    return given.length === 0 ? {} : { [name]: Math.min(...given) };
  };
  return { ...least("runMs"), ...least("cost") };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The latest time that a Date can hold. */
const LATEST = 8.64e15;

export const DEFAULT_LIMITS: Limits = {
  stallMs: 10 * MINUTE_MS,
  stallToolMs: {},
  stallPolicy: "tell",
  stallRestarts: 2,
  retries: 20,
  retryMs: HOUR_MS,
  quotaWaits: 10,
  quotaMs: 24 * HOUR_MS,
  hostWaitMs: MINUTE_MS / 2,
  runMs: null,
  cost: null,
  repeats: 50,
};

/** What a run has used so far. */
export interface Standing {
  /** Working time, excluding the time spent waiting for a person or a quota. */
  workedMs: number;
  /** Time since its last activity. */
  quietMs: number;
  /** Cost of this run alone, in dollars. */
  cost: number;
  /** The tool call that it has been repeating. */
  repeated: { tool: string; times: number } | null;
  /** The tool that it called last, if it has not written since. */
  tool: string | null;
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
    return `stopped: the run took longer than ${minutesText(limits.runMs)}, which is the limit. What it did is in its session.`;
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

/** How long this run may be quiet. */
export function quietLimit({ tool }: Standing, { stallMs, stallToolMs }: Limits): number {
  const own = tool === null ? undefined : Object.entries(stallToolMs).find(([name]) => name === tool.toLowerCase());
  return own?.[1] ?? stallMs;
}

/** Without a number that changes: a run that stalls twice has one reason. */
export function stallText(standing: Standing, limits: Limits): string {
  const during = standing.tool === null ? "" : `, the last one a call of ${standing.tool}`;
  return `no sign of life for ${minutesText(quietLimit(standing, limits))}${during}`;
}

export function stallBreach(what: string, restarts: number): string {
  const after = restarts === 0 ? "" : ` It was restarted ${restarts === 1 ? "once" : `${restarts} times`} before.`;
  return `stopped: the agent showed ${what}.${after} What it did is in its session.`;
}

/** Why a run ends whose host keeps trying; null if it may go on. */
export function retryBreach(retry: { count: number; ms: number; reason: string }, limits: Limits): string | null {
  const { count, ms, reason } = retry;
  if (count <= limits.retries && ms <= limits.retryMs) return null;
  const limit = count > limits.retries ? `${limits.retries} retries` : minutesText(limits.retryMs);
  return `gave up after ${count} failed tries in ${minutesText(ms)} (the limit is ${limit}): ${reason}. Resume the task to try again.`;
}

/** Why a run does not wait for its provider; null if it may. `waitMs`: what it was to wait before. */
export function quotaBreach(
  wait: { until: number; at: number; reason: string; before: { quota: number; waitMs: number } | null },
  limits: Limits,
): string | null {
  const { until, at, reason, before } = wait;
  const [waits, waitMs] = [before?.quota ?? 0, (before?.waitMs ?? 0) + until - at];
  const back = `the provider will be back at ${timeText(until)}: ${reason}`;
  const next = "Resume the task after that.";
  if (waits >= limits.quotaWaits)
    return `the run has waited for its provider ${waits} times, which is the limit, and ${back}. ${next}`;
  if (waitMs <= limits.quotaMs) return null;
  const hours = Math.round(limits.quotaMs / (HOUR_MS / 10)) / 10;
  return `a run may wait for its provider for ${hours} hours, and ${back}. ${next}`;
}

/** Providers may name any time. */
function timeText(at: number): string {
  return Math.abs(at) <= LATEST ? new Date(at).toISOString() : "a time far away";
}

function minutesText(ms: number): string {
  const minutes = Math.round(ms / (MINUTE_MS / 10)) / 10;
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
