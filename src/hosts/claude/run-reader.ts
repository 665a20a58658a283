/**
 * Reads what one CLI process reports about one run, and turns it into host events and the end of the run. Invariant:
 * the run is over when its own result has arrived and the session is idle, which is after its background agents and the
 * turns that those cause. The first result is not the end. Starts and stops nothing.
 */

import type { HostEvent, HostRetry } from "../host.ts";
import { type ClaudeUsage, tokensOf } from "./transcript.ts";
import { type CliMessage, TASK_ENDS } from "./wire.ts";

type Result =
  | { kind: "answered"; text: string }
  | { kind: "failed"; error: string; isOverBudget: boolean }
  | { kind: "interrupted" };

interface Answer {
  id: string;
  usage: ClaudeUsage;
  model: string | undefined;
}

export class RunReader {
  /** The model started to answer. */
  hasStarted = false;
  result: Result | null = null;
  totalCost: number | null = null;
  retry: HostRetry | null = null;
  /** When the account's usage limit is over, if it is used up. */
  resetsAt: number | null = null;
  /** The CLI gave up because of a quota or a rate limit. */
  isLimited = false;
  /** The working agents inside the session, as child sessions. */
  readonly childSessions = new Set<string>();
  readonly #sessionId: string;
  readonly #messageId: string;
  readonly #emit: (event: HostEvent) => void;
  #isIdle = false;
  /** Whether the CLI reports when it is idle; older versions do not. */
  #reportsState = false;
  #backgroundTasks = 0;
  #answer: Answer | null = null;

  constructor(sessionId: string, messageId: string, emit: (event: HostEvent) => void) {
    this.#sessionId = sessionId;
    this.#messageId = messageId;
    this.#emit = emit;
  }

  get isOver(): boolean {
    return this.result !== null && (this.#reportsState ? this.#isIdle : this.#backgroundTasks === 0);
  }

  read(message: CliMessage): void {
    if (message.type === "result") this.#readResult(message);
    else if (message.type === "system") this.#readSystemMessage(message);
    else if (message.type === "rate_limit_event") this.#readLimit(message.rate_limit_info);
    else if (message.type === "command_lifecycle") {
      if (message.command_uuid === this.#messageId && message.state === "started") this.#markStarted();
    } else if (message.parent_tool_use_id == null) {
      if (message.type === "stream_event") this.#readStreamEvent(message.event);
      if (message.type === "assistant") this.#readAnswer(message);
      if (message.type === "user") this.#readToolResults(message);
    }
  }

  /** The process is gone, and everything it was doing has ended. */
  close(): void {
    for (const sessionId of this.childSessions) this.#emit({ type: "session.idle", sessionId });
    this.childSessions.clear();
  }

  /** The cost of the run, which the CLI reports only at the end. */
  countCost(cost: number): void {
    if (cost > 0) this.#emit({ type: "cost.reported", sessionId: this.#sessionId, cost });
  }

  #markStarted(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const session = { sessionId: this.#sessionId };
    this.#emit({ type: "session.working", ...session });
    this.#emit({ type: "message.taken", ...session, messageId: this.#messageId });
  }

  #readResult(message: CliMessage): void {
    const isOwn = [...(message.user_message_uuids ?? []), message.user_message_uuid].includes(this.#messageId);
    const names = message.user_message_uuids ?? message.user_message_uuid;
    // After a crash, a resumed session first ends an empty turn of its own.
    if (this.result === null && !isOwn && (names !== undefined || message.origin !== undefined)) return;
    this.#markStarted();
    this.totalCost = message.total_cost_usd ?? this.totalCost;
    const read = readResult(message);
    // A turn that a background task caused may have nothing to add.
    if (read.kind === "answered" && read.text === "" && this.result?.kind === "answered") return;
    this.result = read;
  }

  #readSystemMessage(message: CliMessage): void {
    const session = { sessionId: this.#sessionId };
    if (message.subtype === "session_state_changed") {
      this.#reportsState = true;
      this.#isIdle = message.state === "idle";
    } else if (message.subtype === "background_tasks_changed") this.#backgroundTasks = message.tasks?.length ?? 0;
    else if (message.subtype === "api_retry") {
      this.retry = retryOf(message, Date.now());
      this.#emit({ type: "session.retrying", ...session, ...this.retry });
    } else if (message.subtype === "task_started" && message.task_type === "local_agent") {
      const sessionId = childSessionId(this.#sessionId, message.task_id ?? "");
      this.childSessions.add(sessionId);
      this.#emit({ type: "session.opened", sessionId, parentSessionId: this.#sessionId });
    } else if (message.subtype === "task_notification" || isTaskEnd(message)) {
      const sessionId = childSessionId(this.#sessionId, message.task_id ?? "");
      if (this.childSessions.delete(sessionId)) this.#emit({ type: "session.idle", sessionId });
    }
  }

  #readLimit({ status, resetsAt }: NonNullable<CliMessage["rate_limit_info"]> = {}): void {
    this.resetsAt = status === "rejected" && resetsAt !== undefined ? resetsAt * 1000 : null;
  }

  #readStreamEvent(event: CliMessage["event"]): void {
    this.retry = null;
    if (event?.type === "message_start" && event.message?.id !== undefined) {
      const { id, usage = {}, model } = event.message;
      this.#answer = { id, usage, model };
    } else if (event?.type === "message_delta" && this.#answer) {
      this.#answer.usage = { ...this.#answer.usage, ...event.usage };
      this.#count(this.#answer);
    } else if (event?.type === "content_block_delta" && event.delta?.type === "text_delta") {
      this.#emit({ type: "text.written", sessionId: this.#sessionId });
    }
  }

  #readAnswer(message: CliMessage): void {
    this.#markStarted();
    this.isLimited = message.error === "rate_limit";
    const content = message.message?.content;
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type !== "tool_use" || !block.id || !block.name) continue;
      const { id: callId, name, input } = block;
      this.#emit({ type: "tool.called", sessionId: this.#sessionId, callId, name, input });
    }
  }

  #readToolResults({ message }: CliMessage): void {
    const content = message?.content;
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type !== "tool_result" || !block.tool_use_id) continue;
      const { tool_use_id: callId, is_error: isFailed = false } = block;
      this.#emit({ type: "tool.ended", sessionId: this.#sessionId, callId, isFailed });
    }
  }

  #count({ id: messageId, usage, model }: Answer): void {
    const counted = { messageId, tokens: tokensOf(usage), cost: 0, ...(model !== undefined && { model }) };
    this.#emit({ type: "usage.counted", sessionId: this.#sessionId, ...counted });
  }
}

/** The CLI's own pauses double from half a second, up to half a minute or so. */
const LONGEST_OWN_PAUSE_MS = 45_000;

function retryOf({ error, attempt, retry_delay_ms: delay }: CliMessage, now: number): HostRetry {
  const retry = { reason: error ?? "unknown", count: attempt ?? 1 };
  if (delay === undefined) return retry;
  const next = now + delay;
  return { ...retry, next, ...(delay > LONGEST_OWN_PAUSE_MS && { until: next }) };
}

/** The id of an agent inside a session, as a child session. */
export function childSessionId(sessionId: string, agentId: string): string {
  return `${sessionId}/${agentId}`;
}

function isTaskEnd(message: CliMessage): boolean {
  return message.subtype === "task_updated" && TASK_ENDS.includes(message.patch?.status ?? "");
}

function readResult(message: CliMessage): Result {
  if (message.terminal_reason?.startsWith("aborted")) return { kind: "interrupted" };
  if (message.is_error !== true) return { kind: "answered", text: (message.result ?? "").trim() };
  const words = message.result || message.errors?.join("\n") || message.subtype;
  return {
    kind: "failed",
    error: words || "Claude gave no reason",
    isOverBudget: message.subtype === "error_max_budget_usd",
  };
}
