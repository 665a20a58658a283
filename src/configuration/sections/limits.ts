/** The limits of runs: in the daemon, and in OpenCode with the plugin. What they do is in `src/model/limits.ts`. */
import { DEFAULT_LIMITS } from "../../model/limits.ts";
import { optional, setting } from "../section.ts";
import { amount, wholeNumber } from "../value-kinds.ts";

export const limits = {
  means: "What runs may use, and how many run at once. They hold for the daemon, and for OpenCode with the plugin.",
  settings: {
    maxConcurrent: optional(wholeNumber(), {
      means: "At most this many tasks run at once in a process; the others are queued.",
      variable: "ASYNCAGENTS_MAX_CONCURRENT",
      pluginOption: true,
      otherwise: "16 in the daemon, no limit in OpenCode",
    }),
    maxQueued: setting(wholeNumber(), {
      means: "At most this many tasks are queued in the daemon; then launches are refused.",
      variable: "ASYNCAGENTS_MAX_QUEUED",
      default: 200,
    }),
    maxDepth: setting(wholeNumber({ max: 8 }), {
      means: "How deeply tasks may launch tasks. With 1, background agents cannot launch any.",
      variable: "ASYNCAGENTS_MAX_DEPTH",
      pluginOption: true,
      default: 1,
    }),
    maxMinutes: optional(amount(), {
      means: "A run that works longer is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_MINUTES",
      pluginOption: true,
      otherwise: "no limit",
    }),
    maxCost: optional(amount(), {
      means: "A run that costs more dollars is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_COST",
      pluginOption: true,
      otherwise: "no limit",
    }),
    maxRepeats: setting(wholeNumber(), {
      means: "A run that makes the same tool call more often in a row is stopped and ends with an error.",
      variable: "ASYNCAGENTS_MAX_REPEATS",
      pluginOption: true,
      default: DEFAULT_LIMITS.repeats,
    }),
    stallMinutes: setting(amount(), {
      means: "A run without activity for this long is shown as stalled; it is not stopped.",
      variable: "ASYNCAGENTS_STALL_MINUTES",
      pluginOption: true,
      default: DEFAULT_LIMITS.stallMs / 60_000,
    }),
  },
};
