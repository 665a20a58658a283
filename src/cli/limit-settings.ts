/**
 * What a run of the daemon may take, and how many are at work at once, from the environment. A wrong one is logged and does
 * not count: it must not keep the daemon from starting.
 */
import type { Log } from "../engine/context.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";

const MINUTE_MS = 60_000;

export interface LimitSettings {
  limits: Limits;
  maxConcurrent: number | null;
}

export function limitSettings(environment: Readonly<Record<string, string | undefined>>, log: Log): LimitSettings {
  const read = (name: string, fits: (value: number) => boolean = () => true): number | null => {
    const text = environment[name]?.trim() ?? "";
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
    if (value > 0 && fits(value)) return value;
    if (text !== "")
      log.error(`${name} is not a number that can be used; it does not count`, { given: text.slice(0, 50) });
    return null;
  };
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
    maxConcurrent: read("ASYNCAGENTS_MAX_CONCURRENT", Number.isInteger),
  };
}
