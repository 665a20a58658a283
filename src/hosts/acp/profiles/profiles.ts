/**
 * The profiles of the agents that were tested, each against its real program with a scripted model. What a profile
 * says was seen with the version in the table of known agents; another version may differ, towards the strict profile.
 */

import { pieceText, recordOf } from "../wire.ts";
import { type AcpProfile, countIn, type EndedTurn, isSystemError, looksLikeError, STRICT, textIn } from "./profile.ts";

/** For agents that answer a failed model with an error: a report of a failure as text is one all the same. */
function reportOf({ text, hasFailed }: EndedTurn): string | null {
  return hasFailed || looksLikeError(text) ? text || "the agent reported a failure" : null;
}

const opencode: AcpProfile = {
  ...STRICT,
  toolName: ({ title, kind }) => title ?? kind,
  counts: "last call",
  failure: reportOf,
  modes: [],
};

const claude: AcpProfile = {
  ...STRICT,
  toolName: (update) => textIn(recordOf(update._meta).claudeCode, "toolName") ?? update.name ?? update.title,
  // The content is the same, dressed up for a screen.
  toolOutput: ({ rawOutput }) => (typeof rawOutput === "string" ? rawOutput : undefined),
  isNote: ({ content }) => pieceText(content).startsWith("API Error"),
  failure: (turn) => (turn.text === "" && turn.notes.length > 0 ? (turn.notes.at(-1) ?? "").trim() : reportOf(turn)),
  modes: ["acceptEdits"],
  denial: (tools) => ({ claudeCode: { options: { disallowedTools: [...tools] } } }),
};

const codex: AcpProfile = {
  ...STRICT,
  toolName: ({ name, kind }) => name ?? kind,
  toolOutput(update, part) {
    const delta = recordOf(recordOf(update._meta).terminal_output_delta).data;
    return typeof delta === "string" ? `${part.output ?? ""}${delta}` : undefined;
  },
  isNote: ({ messageId }) => messageId === undefined,
  isFailure: isSystemError,
  failure({ result, text, notes, hasFailed }) {
    if (!hasFailed && result.usage !== null && result.usage !== undefined) return null;
    const note = notes.findLast((each) => !each.startsWith("Warning:"))?.trim();
    return note || `Codex reported a failure${text === "" ? "" : `; its last words: ${text}`}`;
  },
  // Its default, `agent`, lets a model of its own approve what leaves the sandbox: nobody would be asked.
  modes: ["workspace-write", "read-only"],
};

const qwen: AcpProfile = {
  ...STRICT,
  toolName: (update) => textIn(update._meta, "toolName") ?? update.title,
  // The content wraps the output in a report about the command.
  toolOutput: ({ rawOutput }) => textIn(rawOutput, "output"),
  callTokens(update) {
    const usage = recordOf(update._meta).usage;
    if (usage === undefined || update.sessionUpdate !== "agent_message_chunk") return null;
    return {
      input: countIn(usage, "inputTokens", "promptTokens"),
      output: countIn(usage, "outputTokens", "candidatesTokens"),
      reasoning: countIn(usage, "thoughtTokens"),
      cacheRead: countIn(usage, "cachedReadTokens", "cachedTokens"),
      cacheWrite: 0,
    };
  },
  tokens: () => null,
  failure: reportOf,
  modes: ["auto-edit", "default"],
  asksInPermissions: true,
};

const gemini: AcpProfile = {
  ...STRICT,
  // `read_file__call_1`; older versions separate by one dash.
  toolName: ({ toolCallId, kind }) => /^(.+?)(__|-)/.exec(toolCallId ?? "")?.[1] ?? kind,
  tokens({ _meta }) {
    const count = recordOf(recordOf(_meta).quota).token_count;
    if (count === undefined) return null;
    const [input, output] = [countIn(count, "input_tokens"), countIn(count, "output_tokens")];
    return { input, output, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
  },
  failure: reportOf,
  modes: ["autoEdit", "default"],
  loadableAfterMs: 61_000,
  hasOldModelMethod: true,
  // Without it the program connects to no MCP server, and does not say so.
  environment: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
};

const copilot: AcpProfile = {
  ...STRICT,
  toolName: ({ kind }) => kind,
  // It writes them into the model's text, each in a piece of its own.
  isNote: ({ content }) => /^(Error: |Info: .*(retrying|cancelled by user))/is.test(pieceText(content)),
  counts: "process",
  failure({ text, notes, tokens }) {
    const error = notes.findLast((note) => note.startsWith("Error: "));
    if (error !== undefined) return error.trim();
    const isNothing = tokens === null || tokens.input + tokens.output === 0;
    return isNothing || looksLikeError(text) ? text || "the model gave no answer" : null;
  },
  modes: [],
  hasProgramServers: false,
};

export const PROFILES = { opencode, claude, codex, qwen, gemini, copilot } as const;

export type ProfileName = keyof typeof PROFILES;

/** The strict one if the name is unknown. */
export function profileNamed(name: string | undefined): AcpProfile {
  return name !== undefined && Object.hasOwn(PROFILES, name) ? PROFILES[name as ProfileName] : STRICT;
}
