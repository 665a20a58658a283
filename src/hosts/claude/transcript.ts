/**
 * Converts Claude's transcript of a session to messages of ours. Claude stores each block of an answer as an entry, and
 * the results of its tools as user entries: here they are one message. Pure; does not judge the end of a run.
 * Invariant: ids sort in the order of the messages, which Claude's own ids do not: an answer's id begins with its
 * prompt's.
 */
import type { Message, MessagePart, ToolPart } from "../../model/message.ts";
import type { Tokens } from "../../model/progress.ts";

interface Block {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | Block[];
  is_error?: boolean;
}

export interface ClaudeUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  output_tokens_details?: { thinking_tokens?: number | null } | null;
}

/** An entry as returned by the SDK's session functions; their types lack the time. */
export interface TranscriptEntry {
  type: string;
  uuid: string;
  timestamp?: string;
  message: unknown;
}

interface Body {
  id?: string;
  model?: string;
  content?: string | Block[];
  stop_reason?: string | null;
  usage?: ClaudeUsage;
}

export interface ClaudeTranscriptMessage extends Message {
  /** The ids of the Claude entries that it was read from, including the results of its tools. */
  entries: string[];
  /** Written by the CLI on behalf of a person or the model: an interruption, the end of a task, an error. */
  isNote: boolean;
  /** The answer ended its turn. */
  isLast: boolean;
}

export function readTranscript(entries: readonly TranscriptEntry[]): ClaudeTranscriptMessage[] {
  const messages: ClaudeTranscriptMessage[] = [];
  const calls = new Map<string, ToolPart>();
  let prompt = "";
  let answers = 0;
  let answering = "";
  for (const entry of entries) {
    const body = (entry.message ?? {}) as Body;
    const at = Date.parse(entry.timestamp ?? "") || 0;
    const last = messages.at(-1);
    if (entry.type === "assistant") {
      if (last?.role === "assistant" && body.id !== undefined && body.id === answering) extend(last, entry, body, at);
      else messages.push(answerOf(entry, body, at, `${prompt || sortable(entry.uuid, at)}.${pad(answers++)}`));
      answering = body.id ?? "";
      for (const part of messages.at(-1)?.parts ?? []) if (part.type === "tool") calls.set(part.callId, part);
    } else if (entry.type === "user") {
      const answered = blocksOf(body.content).filter((block) => settle(calls, block, at));
      if (answered.length > 0) messages.findLast((message) => message.role === "assistant")?.entries.push(entry.uuid);
      const read = promptOf(entry, body, at);
      if (read === null) continue;
      messages.push(read);
      prompt = read.id;
      answers = 0;
    }
  }
  return messages;
}

/** The last entry of the history before a message, skipping calls that have no result yet. Null if nothing is left. */
export function lastEntryBefore(messages: readonly ClaudeTranscriptMessage[], messageId: string): string | null {
  const at = messages.findIndex(({ id, entries }) => id === messageId || entries.includes(messageId));
  const before = at === -1 ? messages : messages.slice(0, at);
  const isWhole = ({ parts }: ClaudeTranscriptMessage) =>
    !parts.some((part) => part.type === "tool" && part.state === "running");
  const open = before.findIndex((message) => !isWhole(message));
  return (open === -1 ? before : before.slice(0, open)).at(-1)?.entries.at(-1) ?? null;
}

export function tokensOf(usage: ClaudeUsage | undefined): Tokens {
  const reasoning = usage?.output_tokens_details?.thinking_tokens ?? 0;
  return {
    input: usage?.input_tokens ?? 0,
    output: (usage?.output_tokens ?? 0) - reasoning,
    reasoning,
    cacheRead: usage?.cache_read_input_tokens ?? 0,
    cacheWrite: usage?.cache_creation_input_tokens ?? 0,
  };
}

function promptOf(entry: TranscriptEntry, body: Body, at: number): ClaudeTranscriptMessage | null {
  const parts = blocksOf(body.content).flatMap((block) => (block.type === "tool_result" ? [] : [partOf(block)]));
  if (parts.length === 0) return null;
  const isNote = parts.every((part) => part.type === "text" && notes.test(part.text));
  const shown = parts.map((part) => (isNote && part.type === "text" ? { ...part, hidden: true } : part));
  const nothing = { endedAt: null, agent: null, model: null, error: null, tokens: null, cost: null };
  const id = isOurs(entry.uuid) ? entry.uuid : sortable(entry.uuid, at);
  return { id, role: "user", at, ...nothing, parts: shown, entries: [entry.uuid], isNote, isLast: false };
}

function answerOf(entry: TranscriptEntry, body: Body, at: number, id: string): ClaudeTranscriptMessage {
  const isNote = body.model === synthetic;
  const parts = blocksOf(body.content).map(partOf);
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return {
    id,
    role: "assistant",
    at,
    endedAt: body.stop_reason ? at : null,
    agent: null,
    model: isNote || !body.model ? null : `anthropic/${body.model}`,
    error: isNote && text.startsWith("API Error") ? text : null,
    tokens: tokensOf(body.usage),
    cost: null,
    parts,
    entries: [entry.uuid],
    isNote,
    isLast: !isNote && body.stop_reason != null && body.stop_reason !== "tool_use",
  };
}

function extend(message: ClaudeTranscriptMessage, entry: TranscriptEntry, body: Body, at: number): void {
  const further = answerOf(entry, body, at, message.id);
  message.parts.push(...further.parts);
  message.entries.push(entry.uuid);
  message.endedAt = further.endedAt;
  message.tokens = further.tokens;
  message.isLast = further.isLast;
}

function partOf(block: Block): MessagePart {
  if (block.type === "text") return { type: "text", text: block.text ?? "", hidden: false };
  if (block.type === "thinking") return { type: "reasoning", text: block.thinking ?? "" };
  if (block.type !== "tool_use") return { type: "other", raw: block };
  const state = { state: "running", output: null, error: null, startedAt: null, endedAt: null } as const;
  return { type: "tool", callId: block.id ?? "", name: block.name ?? "", title: null, input: block.input, ...state };
}

/** Returns whether the block is the result of a call. */
function settle(calls: ReadonlyMap<string, ToolPart>, block: Block, at: number): boolean {
  const call = block.type === "tool_result" ? calls.get(block.tool_use_id ?? "") : undefined;
  if (call === undefined) return false;
  const text = blocksOf(block.content)
    .map((part) => part.text ?? "")
    .join("\n");
  call.endedAt = at;
  call.state = block.is_error === true ? "error" : "completed";
  if (call.state === "error") call.error = text;
  else call.output = text;
  return true;
}

const synthetic = "<synthetic>";
const notes = /^(\[Request interrupted by user|<task-notification>)/;

function blocksOf(content: string | Block[] | undefined): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

/** Ids that we create begin with the time; those of the CLI are random. */
function isOurs(uuid: string): boolean {
  return uuid[14] === "7";
}

function sortable(uuid: string, at: number): string {
  const time = at.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-${uuid}`;
}

function pad(index: number): string {
  return String(index).padStart(6, "0");
}
