/**
 * One message of a session as people and doors read it, whatever the host: nothing masked, nothing cut. What has no word
 * here keeps the host's own record as `other`, so that a transcript is complete. Plain data.
 */
import type { Tokens } from "./progress.ts";

export const TOOL_STATES = ["pending", "running", "completed", "error"] as const;

export interface ToolPart {
  type: "tool";
  callId: string;
  name: string;
  state: (typeof TOOL_STATES)[number];
  /** What the host shows in place of the input; null where it has none. */
  title: string | null;
  input: unknown;
  output: string | null;
  error: string | null;
  startedAt: number | null;
  endedAt: number | null;
}

export type MessagePart =
  /** `hidden` is for the model only: a person did not write it and is not shown it by the host. */
  | { type: "text"; text: string; hidden: boolean }
  | { type: "reasoning"; text: string }
  | ToolPart
  | { type: "file"; name: string | null; mime: string; url: string }
  | { type: "other"; raw: unknown };

export interface Message {
  id: string;
  role: "user" | "assistant";
  at: number;
  /** When an answer was finished; null while it is being written, and for prompts. */
  endedAt: number | null;
  agent: string | null;
  /** `provider/model`. */
  model: string | null;
  error: string | null;
  tokens: Tokens | null;
  cost: number | null;
  parts: MessagePart[];
}
