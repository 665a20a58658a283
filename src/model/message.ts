/**
 * One message of a session, in one form for all hosts: nothing masked, nothing cut. A part that has no equivalent here
 * keeps the host's own record as `other`, so that a transcript is complete. Plain data.
 */
import type { Tokens } from "./progress.ts";

export const TOOL_STATES = ["pending", "running", "completed", "error"] as const;

export interface ToolPart {
  type: "tool";
  callId: string;
  name: string;
  state: (typeof TOOL_STATES)[number];
  /** What the host displays in place of the input, if anything. */
  title: string | null;
  input: unknown;
  output: string | null;
  error: string | null;
  startedAt: number | null;
  endedAt: number | null;
}

export type MessagePart =
  /** `hidden` text is for the model only: no person wrote it, and the host does not display it. */
  | { type: "text"; text: string; hidden: boolean }
  | { type: "reasoning"; text: string }
  | ToolPart
  | { type: "file"; name: string | null; mime: string; url: string }
  | { type: "other"; raw: unknown };

export interface Message {
  id: string;
  role: "user" | "assistant";
  at: number;
  /** When an answer was finished; null for prompts and for answers in progress. */
  endedAt: number | null;
  agent: string | null;
  /** `provider/model`. */
  model: string | null;
  error: string | null;
  tokens: Tokens | null;
  cost: number | null;
  parts: MessagePart[];
}
