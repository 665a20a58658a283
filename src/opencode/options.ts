/** The engine's settings in OpenCode, from the configuration: the plugin's options, the environment and the file. */
import { budgetSettings } from "../configuration/budget-settings.ts";
import { runLimits } from "../configuration/run-limits.ts";
import type { Configuration } from "../configuration/sections.ts";
import { DEFAULT_SETTINGS, type Settings } from "../engine/context.ts";

/** Longer than the time between a model's calls in one answer, and until its next request after the last call. */
const LAUNCH_PAUSE_MS = 60;

export function settingsOf({ limits, opencode, inbox }: Configuration, ownTools: readonly string[]): Settings {
  return {
    resumable: opencode.resumable,
    maxDepth: limits.maxDepth,
    wake: opencode.wake,
    noticeResultChars: opencode.noticeResultChars,
    noticeRetryMs: DEFAULT_SETTINGS.noticeRetryMs,
    fork: {
      tokens: opencode.forkTokens,
      wholeOutputs: opencode.forkWholeOutputs,
      recentOutputs: opencode.forkRecentOutputs,
      recentChars: opencode.forkRecentChars,
      olderChars: opencode.forkOlderChars,
    },
    pollMs: DEFAULT_SETTINGS.pollMs,
    launchPauseMs: LAUNCH_PAUSE_MS,
    limits: runLimits(limits),
    budgets: budgetSettings(limits),
    prices: limits.prices,
    rules: inbox.policies,
    cancelOnAbort: opencode.cancelOnAbort,
    launchTool: `${opencode.toolPrefix}_task`,
    listTool: `${opencode.toolPrefix}_list`,
    ownTools,
  };
}
