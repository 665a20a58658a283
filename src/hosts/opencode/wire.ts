/**
 * The OpenCode records that we read: only the fields that we use, optional where OpenCode may omit them. Nothing here
 * is ever written back unchanged.
 */
import type { HostRetry } from "../host.ts";
import { providerReturn } from "../provider-return.ts";

export interface WireError {
  name?: string;
  data?: { message?: string; statusCode?: number; responseHeaders?: Record<string, string> };
  message?: string;
}

export interface WireTokens {
  input?: number;
  output?: number;
  reasoning?: number;
  cache?: { read?: number; write?: number };
}

export interface WireInfo {
  id: string;
  sessionID: string;
  role: "user" | "assistant";
  parentID?: string;
  time: { created: number; completed?: number };
  finish?: string;
  summary?: unknown;
  error?: WireError;
  tokens?: WireTokens;
  cost?: number;
  agent?: string;
  /** Set on prompts; answers have two separate fields instead. */
  model?: { providerID: string; modelID: string; variant?: string };
  providerID?: string;
  modelID?: string;
}

export interface WirePart {
  id: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  ignored?: boolean;
  tool?: string;
  callID?: string;
  state?: {
    status?: string;
    input?: unknown;
    output?: string;
    error?: string;
    title?: string;
    time?: { start?: number; end?: number };
    attachments?: WirePart[];
  };
  filename?: string;
  mime?: string;
  url?: string;
}

export interface WireMessage {
  info: WireInfo;
  parts: WirePart[];
}

export interface WireRule {
  permission: string;
  pattern: string;
  action: "allow" | "ask" | "deny";
}

export interface WireSession {
  id: string;
  parentID?: string;
  title?: string;
  directory?: string;
  metadata?: Record<string, unknown>;
  permission?: WireRule[];
  time?: { created?: number };
}

export interface WireAgent {
  name: string;
  description?: string;
  mode?: string;
  hidden?: boolean;
  model?: { providerID: string; modelID: string };
  permission?: WireRule[];
}

/** Stack frames at the end, as JavaScript engines print them: "    at name (file:line:column)". */
const STACK_TRACE = /(?:\r?\n {4}at .+)+\s*$/;

/** Whether the turn was aborted. */
export function isAbort(error: WireError): boolean {
  return error.name === "MessageAbortedError";
}

/** The message of an OpenCode error, without the stack trace that OpenCode puts into some messages. */
export function errorText(error: WireError): string {
  const message = error.data?.message ?? error.message ?? error.name ?? "unknown error";
  const said = String(message).replace(STACK_TRACE, "");
  return error.name && said !== error.name ? `${error.name}: ${said}` : said;
}

/** When the provider of a failed answer said that it will be back. `at`: when it failed. */
export function errorReturn({ data }: WireError, at: number): number | undefined {
  return providerReturn({ status: data?.statusCode, headers: data?.responseHeaders ?? {}, at });
}

export interface WireStatus {
  type?: string;
  attempt?: number;
  message?: string;
  /** When it tries again. */
  next?: number;
}

/** OpenCode's own pauses double from two seconds, with up to a fifth more. */
const BACKOFF_MS = 2_000;
const BACKOFF_MARGIN = 1.5;

/**
 * Why and how often a provider was retried, and when it is next. OpenCode does not say who set that time: if it is
 * further away than its own pause can be, the provider did.
 */
export function retryOf({ message, attempt, next }: WireStatus, now: number): HostRetry {
  const count = attempt ?? 1;
  const retry = { reason: message ?? "the provider failed", count };
  if (next === undefined) return retry;
  const isNamed = next - now > BACKOFF_MS * 2 ** (count - 1) * BACKOFF_MARGIN;
  return { ...retry, next, ...(isNamed && { until: next }) };
}
