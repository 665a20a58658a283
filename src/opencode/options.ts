/**
 * The plugin's options, as written in opencode.json. Invalid ones are rejected with the reason; unknown ones are
 * ignored, so that an older plugin still starts with a newer configuration.
 */
import { z } from "zod";
import { DEFAULT_SETTINGS, type Settings } from "../engine/context.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { WAKES } from "../model/task.ts";

const fork = DEFAULT_SETTINGS.fork;

const schema = z.object({
  /** `asyncagents` or, for the older names, `background`. */
  toolPrefix: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/)
    .default("asyncagents"),
  resumable: z.array(z.enum(["error", "cancelled"])).default([]),
  maxDepth: z.number().int().min(1).max(8).default(DEFAULT_SETTINGS.maxDepth),
  wake: z.enum(WAKES).default(DEFAULT_SETTINGS.wake),
  noticeResultChars: z.number().int().min(0).max(100_000).default(DEFAULT_SETTINGS.noticeResultChars),
  forkTokens: z.number().int().min(1000).default(fork.tokens),
  forkWholeOutputs: z.number().int().min(0).default(fork.wholeOutputs),
  forkRecentOutputs: z.number().int().min(0).default(fork.recentOutputs),
  forkRecentChars: z.number().int().min(0).default(fork.recentChars),
  forkOlderChars: z.number().int().min(0).default(fork.olderChars),
  maxConcurrent: z.number().int().min(1).optional(),
  maxMinutes: z.number().positive().optional(),
  maxCost: z.number().positive().optional(),
  maxRepeats: z.number().int().min(1).default(DEFAULT_SETTINGS.limits.repeats),
  stallMinutes: z
    .number()
    .positive()
    .default(DEFAULT_SETTINGS.limits.stallMs / 60_000),
  cancelOnAbort: z.boolean().default(false),
  toasts: z.boolean().default(true),
});

export type PluginOptions = z.infer<typeof schema>;

export function readOptions(given: unknown): PluginOptions {
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new AsyncAgentsError("invalid_input", `The options of the asyncagents plugin are wrong: ${problems}`);
}

/** Longer than the time between a model's calls in one answer, and until its next request after the last call. */
const LAUNCH_PAUSE_MS = 60;

export function settingsOf(options: PluginOptions, ownTools: readonly string[]): Settings {
  return {
    resumable: options.resumable,
    maxDepth: options.maxDepth,
    wake: options.wake,
    noticeResultChars: options.noticeResultChars,
    noticeRetryMs: DEFAULT_SETTINGS.noticeRetryMs,
    fork: {
      tokens: options.forkTokens,
      wholeOutputs: options.forkWholeOutputs,
      recentOutputs: options.forkRecentOutputs,
      recentChars: options.forkRecentChars,
      olderChars: options.forkOlderChars,
    },
    pollMs: DEFAULT_SETTINGS.pollMs,
    launchPauseMs: LAUNCH_PAUSE_MS,
    limits: {
      stallMs: options.stallMinutes * 60_000,
      runMs: options.maxMinutes === undefined ? null : options.maxMinutes * 60_000,
      cost: options.maxCost ?? null,
      repeats: options.maxRepeats,
    },
    cancelOnAbort: options.cancelOnAbort,
    launchTool: `${options.toolPrefix}_task`,
    listTool: `${options.toolPrefix}_list`,
    ownTools,
  };
}
