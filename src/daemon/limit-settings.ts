/**
 * The daemon's limits, from environment variables: for each run, for how many run and wait, for how deep agents may
 * launch agents, for how long ended tasks are kept; and whether models are offered the scripted agent. An invalid value
 * is logged and ignored: it must not keep the daemon from starting.
 */

import type { RetentionLimits } from "../engine/retention.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { Log } from "../process/log.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_CONCURRENT = 16;
const MAX_QUEUED = 200;
const MAX_DEPTH = 1;

interface LimitSettings {
  limits: Limits;
  maxConcurrent: number;
  /** How many runs may be queued when all slots are in use. */
  maxQueued: number;
  /** 1: an agent that we started launches none. */
  maxDepth: number;
  /** Nothing is pruned unless it says so. */
  retention: RetentionLimits;
}

/** Whether models are offered the scripted agent. People can always use it. */
export function offersScripted(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment.ASYNCAGENTS_SCRIPTED === "1";
}

export function limitSettings(environment: Readonly<Record<string, string | undefined>>, log: Log): LimitSettings {
  const read = (name: string, fits: (value: number) => boolean = () => true): number | null => {
    const text = environment[name]?.trim() ?? "";
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
    if (value > 0 && fits(value)) return value;
    if (text !== "") log.error(`${name} is not a usable number; it is ignored`, { given: text.slice(0, 50) });
    return null;
  };
  const days = read("ASYNCAGENTS_KEEP_DAYS");
  const minutes = (name: string) => {
    const value = read(name);
    return value === null ? null : value * MINUTE_MS;
  };
  return {
    limits: {
      stallMs: minutes("ASYNCAGENTS_STALL_MINUTES") ?? DEFAULT_LIMITS.stallMs,
      runMs: minutes("ASYNCAGENTS_MAX_MINUTES"),
      cost: read("ASYNCAGENTS_MAX_COST"),
      repeats: read("ASYNCAGENTS_MAX_REPEATS", Number.isInteger) ?? DEFAULT_LIMITS.repeats,
    },
    maxConcurrent: read("ASYNCAGENTS_MAX_CONCURRENT", Number.isInteger) ?? MAX_CONCURRENT,
    maxQueued: read("ASYNCAGENTS_MAX_QUEUED", Number.isInteger) ?? MAX_QUEUED,
    maxDepth: read("ASYNCAGENTS_MAX_DEPTH", Number.isInteger) ?? MAX_DEPTH,
    retention: {
      olderThanMs: days === null ? undefined : days * DAY_MS,
      keep: read("ASYNCAGENTS_KEEP_TASKS", Number.isInteger) ?? undefined,
    },
  };
}
