/**
 * What differs between ACP agents: how they name tools, what their token counts mean, by which signs a failed turn is
 * known, and what must be avoided with them. A profile is data and pure functions; the strict one is for agents that
 * nobody has tested.
 */
import type { ToolPart } from "../../../model/message.ts";
import type { Tokens } from "../../../model/progress.ts";
import { type AcpPromptResult, type AcpUpdate, recordOf } from "../wire.ts";

/** A turn that its agent ended with `end_turn`. */
export interface EndedTurn {
  result: AcpPromptResult;
  /** The answer. */
  text: string;
  /** What the agent's program itself said. */
  notes: readonly string[];
  /** The agent's program reported a failure on the way. */
  hasFailed: boolean;
  /** What was counted in the turn; null if the agent did not say. */
  tokens: Tokens | null;
}

export interface AcpProfile {
  /** Of the first update about a call. */
  toolName(update: AcpUpdate): string | undefined;
  /** What a call returned, for an agent that does not send it as content. */
  toolOutput?(update: AcpUpdate, part: ToolPart): string | undefined;
  /** Text of the program itself, not of the model. */
  isNote?(update: AcpUpdate): boolean;
  /** The program reports that the turn fails. */
  isFailure?(update: AcpUpdate): boolean;
  /** Tokens of a single model call, for an agent that reports them so. */
  callTokens?(update: AcpUpdate): Tokens | null;
  /** What the response to a prompt counts: this turn, only its last model call, or all since its process started. */
  counts: "turn" | "last call" | "process";
  tokens(result: AcpPromptResult): Tokens | null;
  /** Why a turn that ended with `end_turn` failed nevertheless; null if it did not. */
  failure(turn: EndedTurn): string | null;
  /** Modes that ask before they run commands, best first; the first that the agent offers is set. */
  modes: readonly string[];
  /** The agent takes MCP servers that are started as programs. */
  hasProgramServers: boolean;
  /** A session that is younger than this cannot be loaded. */
  loadableAfterMs: number;
  /** It asks questions as permissions, and takes the answers with them. */
  asksInPermissions?: boolean;
  /** It has no list of models, but takes any name by an older method. */
  hasOldModelMethod?: boolean;
  /** Settings of the program that it needs to work for us. */
  environment?: Readonly<Record<string, string>>;
  /** For `session/new`: tools that the session must not have, for an agent that can be told so. */
  denial?(tools: readonly string[]): Record<string, unknown>;
}

/** Strict: whatever any agent does when it fails counts as a failure. */
export const STRICT: AcpProfile = {
  toolName: (update) => update.name ?? textIn(update._meta, "toolName") ?? update.title ?? update.kind,
  counts: "turn",
  tokens: usageOf,
  isFailure: isSystemError,
  failure: ({ result, text, notes, hasFailed }) => {
    if (hasFailed || result.usage === null) return notes.at(-1) ?? (text || "the agent reported a failure");
    return looksLikeError(text) || mentionsFailure(text) ? text : null;
  },
  modes: [],
  hasProgramServers: true,
  loadableAfterMs: 0,
};

/** An answer that is nothing but an error, as programs print it: "API Error: 500", `{"error":…`, "401 Unauthorized". */
export function looksLikeError(text: string): boolean {
  const start = text.trim().slice(0, 200);
  if (/^\W{0,3}([a-z]+ ){0,2}error( \d+)?\s*[:([]/i.test(start) || /^\{\s*"?error"?\s*:/i.test(start)) return true;
  const isStatus = /^(http|status( code)?)?[ :]*[45]\d\d\b(\s*[:([{-]|\s*$)/i;
  const isNamed = /^[45]\d\d (bad|unauthorized|forbidden|not found|too many|internal server|service unav|gateway)/i;
  return isStatus.test(start) || isNamed.test(start);
}

/** The longest answer that may be nothing but a report of a failure. */
const REPORT_CHARS = 400;

/** A short answer in the words of providers and networks that fail: of an agent that nobody has tested, not trusted. */
function mentionsFailure(text: string): boolean {
  const words =
    /\bE(CONN|NOTFOUND|TIMEDOUT|PIPE|AI_AGAIN)|\b(rate.?limit|quota|usage limit) (exceeded|reached)|status(:| code) ?[45]\d\d\b|\b[45]\d\d (too many requests|internal server error|unauthorized|service unavailable|bad gateway)|\b(fetch|request|connection|stream) (failed|disconnected|refused|reset|closed|terminated|timed out)|\b(authentication|authorization) (failed|required)|invalid (api )?key|retry limit/i;
  return text.length <= REPORT_CHARS && words.test(text);
}

export function usageOf({ usage }: AcpPromptResult): Tokens | null {
  if (usage === undefined || usage === null) return null;
  const { inputTokens = 0, outputTokens = 0, thoughtTokens = 0, cachedReadTokens = 0, cachedWriteTokens = 0 } = usage;
  return {
    input: inputTokens,
    output: outputTokens,
    reasoning: thoughtTokens,
    cacheRead: cachedReadTokens,
    cacheWrite: cachedWriteTokens,
  };
}

export function isSystemError(update: AcpUpdate): boolean {
  const { threadStatus } = recordOf(recordOf(update._meta).codex);
  return recordOf(threadStatus).type === "systemError";
}

export function textIn(record: unknown, name: string): string | undefined {
  const value = recordOf(record)[name];
  return typeof value === "string" ? value : undefined;
}

export function countIn(record: unknown, ...names: string[]): number {
  const values = names.map((name) => recordOf(record)[name]);
  const found = values.find((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return typeof found === "number" ? found : 0;
}
