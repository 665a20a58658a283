/** OpenCode: its program, and the plugin inside it. The plugin's other options are limits. */
import { DEFAULT_SETTINGS } from "../../engine/context.ts";
import { WAKES } from "../../model/task.ts";
import { optional, type Setting, setting } from "../section.ts";
import { listOf, oneOf, text, wholeNumber, yesOrNo } from "../value-kinds.ts";

const { fork } = DEFAULT_SETTINGS;

function option<T>(kind: Setting<T>["kind"], fallback: T, means: string): Setting<T, T> {
  return setting(kind, { means, pluginOption: true, default: fallback });
}

export const opencode = {
  means: "OpenCode, and the plugin in it.",
  settings: {
    program: optional(
      text("the path of a program, or its name on PATH", (given) => given !== ""),
      {
        means: "The program that the daemon and runners start.",
        variable: "ASYNCAGENTS_OPENCODE",
        otherwise: "opencode, on PATH",
      },
    ),
    toolPrefix: option(
      text("a word of small letters, digits and _, at most 32", (given) => /^[a-z][a-z0-9_]{0,31}$/.test(given)),
      "asyncagents",
      'Prefix of the tools\' names; "background" gives the older names.',
    ),
    resumable: option(
      listOf(oneOf(["error", "cancelled"]), 'a list of "error" and "cancelled"'),
      [],
      'Which ended tasks may be resumed besides completed ones: "error", "cancelled".',
    ),
    wake: option(
      oneOf(WAKES),
      DEFAULT_SETTINGS.wake,
      "Which ends of tasks start a turn of the parent, unless a launch says otherwise.",
    ),
    noticeResultChars: option(
      wholeNumber({ min: 0, max: 100_000 }),
      DEFAULT_SETTINGS.noticeResultChars,
      "Characters of a result that go into a notice; the rest is read with the output tool.",
    ),
    forkTokens: option(
      wholeNumber({ min: 1000 }),
      fork.tokens,
      "A fork's history is cut to about this many tokens, dropping the oldest messages.",
    ),
    forkWholeOutputs: option(
      wholeNumber({ min: 0 }),
      fork.wholeOutputs,
      "The newest N tool outputs are kept in full in a fork.",
    ),
    forkRecentOutputs: option(
      wholeNumber({ min: 0 }),
      fork.recentOutputs,
      "The N before them are cut to forkRecentChars, all older ones to forkOlderChars.",
    ),
    forkRecentChars: option(wholeNumber({ min: 0 }), fork.recentChars, "See forkRecentOutputs."),
    forkOlderChars: option(wholeNumber({ min: 0 }), fork.olderChars, "See forkRecentOutputs."),
    cancelOnAbort: option(
      yesOrNo({ trueText: "true" }),
      false,
      "Cancel a session's tasks when a person aborts its turn; by default they continue.",
    ),
    toasts: option(yesOrNo({ trueText: "true" }), true, "Show short messages in OpenCode when tasks start and end."),
  },
};
