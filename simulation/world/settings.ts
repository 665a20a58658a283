/**
 * The settings of all simulated engines: the default ones, with a limit that ends agents which hang, and with polls
 * that are slower in most seeds. What a poll repairs is then visible for longer, and a seed takes fewer steps. In some
 * seeds notices are sent again sooner, so that many tries fit into the storm; in some, runs wait for each other, or
 * count as stalled soon.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../src/engine/context.ts";
import type { Random } from "../time/random.ts";

const POLLS_MS = [DEFAULT_SETTINGS.pollMs, 10_000, 20_000];
const NOTICE_RETRIES_MS = [DEFAULT_SETTINGS.noticeRetryMs, 200];

const STALLS_MS = [DEFAULT_SETTINGS.limits.stallMs, 60_000];
const CONCURRENT = [null, null, 2];

export interface SimulatedSettings extends Settings {
  /** How many runs a process does at once; null for any number. */
  maxConcurrent: number | null;
}

export function settingsOf(random: Random): SimulatedSettings {
  return {
    ...DEFAULT_SETTINGS,
    limits: { ...DEFAULT_SETTINGS.limits, runMs: 6 * 60_000, stallMs: random.pick(STALLS_MS) },
    maxConcurrent: random.pick(CONCURRENT),
    launchPauseMs: 50,
    pollMs: random.pick(POLLS_MS),
    noticeRetryMs: random.pick(NOTICE_RETRIES_MS),
  };
}
