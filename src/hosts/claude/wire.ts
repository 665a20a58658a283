/**
 * The fields that this host reads from the messages of the Claude CLI, all optional, since every version sends others.
 * Types only, except for the status words that end a task.
 */
import type { ClaudeUsage } from "./transcript.ts";

/** A part of a message: a tool call of the model, or in a `user` message the result of one. */
interface CliBlock {
  type: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
}

export interface CliMessage {
  type: string;
  subtype?: string;
  /** Set on messages of an agent inside the session. */
  parent_tool_use_id?: string | null;
  message?: { content?: string | CliBlock[] };
  event?: {
    type: string;
    message?: { id?: string; usage?: ClaudeUsage; model?: string };
    usage?: ClaudeUsage;
    delta?: { type?: string };
  };
  /** On `command_lifecycle`. */
  command_uuid?: string;
  state?: string;
  /** On `api_retry`. */
  attempt?: number;
  /** Also on `assistant`. */
  error?: string;
  retry_delay_ms?: number;
  error_status?: number | null;
  /** On `rate_limit_event`; in seconds since the epoch. */
  rate_limit_info?: { status?: string; resetsAt?: number };
  /** On `task_*`. */
  task_id?: string;
  task_type?: string;
  tasks?: unknown[];
  patch?: { status?: string };
  /** On `result`. */
  result?: string;
  is_error?: boolean;
  errors?: string[];
  terminal_reason?: string;
  user_message_uuid?: string;
  user_message_uuids?: string[];
  origin?: { kind?: string };
  total_cost_usd?: number;
}

/** One CLI process working on a session. */
export interface RunningClaude {
  messages: AsyncIterable<CliMessage>;
  send(messageId: string, text: string): void;
  interrupt(): Promise<void>;
  stopTask(taskId: string): Promise<void>;
  /** No more prompts: the process exits when it has nothing left to do. */
  end(): void;
  /** Resolves when the process and its children have exited: by themselves within that time, otherwise killed. */
  ended(graceMs: number): Promise<{ complaint: string; signal: string | null }>;
}

/** The settings of a run. */
export interface RunSettings {
  sessionId: string;
  agent: string;
  model: string | null;
  /** In dollars; null for no limit. */
  maxCost: number | null;
}

export const TASK_ENDS = ["completed", "failed", "killed"];
