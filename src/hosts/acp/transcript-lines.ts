/**
 * The lines of a session's transcript: what was asked of the agent, every update that it sent, and how each run ended.
 * Together they are all that is known about a session; nothing is read back from the agent. Types only, and how a line
 * is written.
 */

import type { ReplyWord } from "../../model/answer.ts";
import type { Tokens } from "../../model/progress.ts";
import type { AcpUpdate } from "./wire.ts";

export interface AcpIdentity {
  parentSessionId: string;
  agent: string;
  title: string;
  model: string | null;
  launchId: string;
  denyTools: readonly string[];
  at: number;
}

/** How the agent's own session was opened: `account` is a new one that was told what happened in the old one. */
export type AcpOpening = "new" | "resumed" | "loaded" | "account";

/** How a prompt ended. */
export interface AcpRunEnd {
  messageId: string;
  at: number;
  /** The answer that ended the run; null if there is none. */
  text: string | null;
  error: string | null;
  aborted: boolean;
  /** A person rejected what it asked for, and that ended it. */
  refused: boolean;
  /** Text was written or a call completed; absent in older transcripts. The updates that show it may be left out. */
  worked?: boolean;
  /** The agent has lost its own session: the next run needs a new one. */
  lost?: boolean;
  /** The agent's word for why the turn ended; null if it did not say. */
  stopReason: string | null;
  /** Of this run; null if the agent did not say. */
  tokens: Tokens | null;
  cost: number;
  /** What the agent has counted in its session so far. */
  totalCost: number;
}

export type TranscriptLine =
  | ({ type: "session" } & AcpIdentity)
  | { type: "prompted"; messageId: string; at: number; text: string }
  | { type: "opened"; messageId: string; at: number; agentSession: string; how: AcpOpening; account: string | null }
  | { type: "update"; messageId: string; at: number; update: AcpUpdate }
  | {
      type: "asked";
      messageId: string;
      at: number;
      requestId: string;
      callId: string | null;
      tool: string;
      text: string;
    }
  | {
      type: "answered";
      messageId: string;
      at: number;
      requestId: string;
      /** Null if it was withdrawn. */
      reply: ReplyWord | null;
      message: string | null;
    }
  /** A request that was cancelled, and nobody was asked. */
  | { type: "unasked"; messageId: string; at: number; callId: string | null; tool: string; why: string }
  /** A further prompt in the same run. */
  | { type: "told"; messageId: string; at: number; text: string }
  /** From here on, updates of the run are missing: the transcript has reached its limit. */
  | { type: "full"; messageId: string; at: number }
  | ({ type: "ended" } & AcpRunEnd);

export function textOfLine(line: TranscriptLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Nothing for a line that a crash cut short. */
export function lineIn(text: string): TranscriptLine[] {
  if (text === "") return [];
  try {
    const line = JSON.parse(text);
    return typeof line?.type === "string" ? [line as TranscriptLine] : [];
  } catch {
    return [];
  }
}
