/**
 * The settings of all simulated engines: the default ones, with a limit that ends agents which hang, and with polls
 * that are slower in most seeds. What a poll repairs is then visible for longer, and a seed takes fewer steps. In some
 * seeds notices are sent again sooner, so that many tries fit into the storm.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../src/engine/context.ts";
import type { Random } from "../time/random.ts";

const POLLS_MS = [DEFAULT_SETTINGS.pollMs, 10_000, 20_000];
const NOTICE_RETRIES_MS = [DEFAULT_SETTINGS.noticeRetryMs, 200];

export function settingsOf(random: Random): Settings {
  return {
    ...DEFAULT_SETTINGS,
    limits: { ...DEFAULT_SETTINGS.limits, runMs: 6 * 60_000 },
    launchPauseMs: 50,
    pollMs: random.pick(POLLS_MS),
    noticeRetryMs: random.pick(NOTICE_RETRIES_MS),
  };
}
