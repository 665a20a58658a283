/**
 * What one run shows: its messages, tool calls, tokens and signs of failure, built from the lines of the transcript.
 * The same code reads a live run line by line and a stored one as a whole, so both always show the same. Pure; the
 * agent's profile says how its updates are meant.
 */
import type { MessagePart, ToolPart } from "../../model/message.ts";
import type { Tokens } from "../../model/progress.ts";
import type { AcpProfile } from "./profiles/profile.ts";
import type { AcpOpening, AcpRunEnd, TranscriptLine } from "./transcript-lines.ts";
import { type AcpUpdate, pieceText, recordOf, toolText } from "./wire.ts";

/** One message after the prompt: of the agent, or what it was told meanwhile. */
export interface AcpAnswer {
  role: "assistant" | "user";
  at: number;
  endedAt: number;
  /** The agent's own id, if it gives one. */
  agentsId: string | undefined;
  parts: MessagePart[];
}

/** What happened in a line, for whoever follows a live run. */
export type Seen = "text" | { call: ToolPart } | null;

/** The most that is kept of an answer beyond the limit of the transcript. */
const TAIL_CHARS = 512 * 1024;
const MOST_NOTES = 100;
const NAME_CHARS = 80;

export class RunView {
  readonly messageId: string;
  readonly at: number;
  readonly prompt: string;
  readonly answers: AcpAnswer[] = [];
  /** Texts of the agent's program itself, such as warnings and errors: they are not the model's answer. */
  readonly notes: string[] = [];
  readonly calls = new Map<string, ToolPart>();
  /** Tokens that the agent reported with single model calls. */
  callTokens: Tokens | null = null;
  /** In dollars, for the whole session of the agent; null if it does not say. */
  totalCost: number | null = null;
  /** The agent's program reported that it failed. */
  hasFailed = false;
  hasBegun = false;
  isFull = false;
  opening: { agentSession: string; how: AcpOpening; account: string | null; at: number } | null = null;
  end: AcpRunEnd | null = null;
  /** What the agent wrote last, once updates are left out; null before that. */
  #tail: string | null = null;
  #hasWorkedBeyond = false;
  /** Why nobody was asked about the last request that was cancelled for that; null if there is none. */
  unasked: string | null = null;
  /** What a person rejected, unless they said how to go on. */
  #rejected: { tool: string; message: string } | null = null;
  readonly #rejectedCalls = new Set<string>();
  readonly #asked = new Map<string, { callId: string | null; tool: string }>();
  readonly #profile: AcpProfile;

  constructor(prompted: { messageId: string; at: number; text: string }, profile: AcpProfile) {
    this.messageId = prompted.messageId;
    this.at = prompted.at;
    this.prompt = prompted.text;
    this.#profile = profile;
  }

  read(line: TranscriptLine): Seen {
    if (line.type === "update") return this.#readUpdate(line.update, line.at);
    if (line.type === "opened") {
      const { agentSession, how, account, at } = line;
      this.opening = { agentSession, how, account, at };
    } else if (line.type === "asked") this.#asked.set(line.requestId, { callId: line.callId, tool: line.tool });
    else if (line.type === "answered") return this.#readAnswer(line);
    else if (line.type === "unasked") return this.#readUnasked(line);
    else if (line.type === "full") this.#fill();
    else if (line.type === "told") this.#tell(line);
    else if (line.type === "ended") {
      this.end = line;
      this.hasBegun = true;
    }
    return null;
  }

  /** The text that ends the run: what the agent wrote last, after its last tool call. */
  get lastText(): string {
    if (this.#tail !== null) return this.#tail.trim();
    const last = this.answers.at(-1);
    if (last === undefined || last.role === "user") return "";
    const tool = last.parts.findLastIndex((part) => part.type === "tool");
    const texts = last.parts.slice(tool + 1).flatMap((part) => (part.type === "text" ? [part.text] : []));
    return texts.join("").trim();
  }

  /** Some agents have only titles, which may be as long as a command. */
  toolName(update: AcpUpdate): string {
    return (this.#profile.toolName(update) ?? update.kind ?? "tool").slice(0, NAME_CHARS);
  }

  /** Text was written, or a tool call completed. */
  get hasWorked(): boolean {
    const counts = (part: MessagePart) =>
      part.type === "text" ? part.text.trim() !== "" : part.type === "tool" && part.state === "completed";
    return this.#hasWorkedBeyond || this.answers.some(({ role, parts }) => role === "assistant" && parts.some(counts));
  }

  /** The call that the run did not get past; null if it went on. */
  get stoppedAt(): { tool: string; message: string } | null {
    if (this.#rejected) return this.#rejected;
    const last = this.answers.findLast(({ parts }) => parts.length > 0)?.parts.at(-1);
    return last?.type === "tool" && last.state === "error"
      ? { tool: last.name, message: last.error || "failed" }
      : null;
  }

  #readUpdate(update: AcpUpdate, at: number): Seen {
    this.hasBegun ||= isWork(update) && !this.#isNote(update);
    this.#readSigns(update);
    if (this.isFull) return this.#readBeyond(update, at);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#readText(update, at);
      case "agent_thought_chunk": {
        const text = pieceText(update.content);
        if (text === "") return null;
        addText(this.#answerFor(update, at).parts, "reasoning", text);
        return null;
      }
      case "tool_call":
      case "tool_call_update":
        return this.#readCall(update, at);
      default:
        return null;
    }
  }

  #fill(): void {
    if (this.isFull) return;
    this.#tail = this.lastText;
    this.isFull = true;
  }

  /** Keeps only what decides how the run ends: an agent may send without end. */
  #readBeyond(update: AcpUpdate, at: number): Seen {
    const { sessionUpdate, toolCallId: callId, status } = update;
    if (sessionUpdate === "agent_message_chunk") {
      const text = pieceText(update.content);
      if (text === "" || this.#isNote(update)) return this.#noteDown(text);
      this.#tail = `${this.#tail ?? ""}${text}`.slice(-TAIL_CHARS);
      this.#hasWorkedBeyond ||= text.trim() !== "";
      return "text";
    }
    if (callId === undefined || !sessionUpdate.startsWith("tool_call")) return null;
    this.#tail = "";
    this.#hasWorkedBeyond ||= status === "completed";
    if (sessionUpdate !== "tool_call") return null;
    return { call: newPart(callId, this.toolName(update), at) };
  }

  #noteDown(text: string): null {
    if (text !== "" && this.notes.length < MOST_NOTES) this.notes.push(text);
    return null;
  }

  #readSigns(update: AcpUpdate): void {
    const { amount, currency = "USD" } = update.cost ?? {};
    if (amount !== undefined && currency === "USD") this.totalCost = Math.max(this.totalCost ?? 0, amount);
    const tokens = this.#profile.callTokens?.(update) ?? null;
    if (tokens) this.callTokens = this.callTokens ? addTokens(this.callTokens, tokens) : tokens;
    this.hasFailed ||= this.#profile.isFailure?.(update) === true;
  }

  #readText(update: AcpUpdate, at: number): Seen {
    const text = pieceText(update.content);
    if (text === "") return null;
    if (this.#isNote(update)) return this.#noteDown(text);
    addText(this.#answerFor(update, at).parts, "text", text);
    return "text";
  }

  /** Only a piece of text can be one: whatever a profile says of other updates, they are work. */
  #isNote(update: AcpUpdate): boolean {
    return update.sessionUpdate === "agent_message_chunk" && this.#profile.isNote?.(update) === true;
  }

  /** The message that a piece of text belongs to: a new one after a tool call, and for each id of the agent. */
  #answerFor({ messageId }: AcpUpdate, at: number): AcpAnswer {
    const last = this.answers.at(-1);
    const isSame = last?.role === "assistant" && last.agentsId === messageId && last.parts.at(-1)?.type !== "tool";
    if (last && isSame) {
      last.endedAt = at;
      return last;
    }
    return this.#newAnswer(at, messageId);
  }

  #newAnswer(at: number, agentsId: string | undefined): AcpAnswer {
    const answer: AcpAnswer = { role: "assistant", at, endedAt: at, agentsId, parts: [] };
    this.answers.push(answer);
    return answer;
  }

  /** It goes on after a rejection. Without that, what the agent still wrote was on its way already. */
  #tell({ at, text }: { at: number; text: string }): void {
    this.#rejected = null;
    const parts: MessagePart[] = [{ type: "text", text, hidden: true }];
    this.answers.push({ role: "user", at, endedAt: at, agentsId: undefined, parts });
  }

  #readCall(update: AcpUpdate, at: number): Seen {
    const { toolCallId: callId } = update;
    if (callId === undefined) return null;
    // After a person's words, an agent may use the id of what was rejected for another call.
    if (update.sessionUpdate === "tool_call" && this.#rejected === null) this.#rejectedCalls.delete(callId);
    const known = this.calls.get(callId);
    const part = known ?? this.#newCall(callId, this.toolName(update), at);
    part.title = update.title ?? part.title;
    const [before, endedAt] = [JSON.stringify(part.input), part.endedAt];
    if (update.rawInput !== undefined && update.rawInput !== null) part.input = update.rawInput;
    this.#settle(part, update, at);
    const last = this.answers.at(-1);
    if (last) last.endedAt = at;
    const isNews = known === undefined || part.endedAt !== endedAt || before !== JSON.stringify(part.input);
    return isNews ? { call: part } : null;
  }

  #newCall(callId: string, name: string, at: number): ToolPart {
    const part = newPart(callId, name, at);
    this.calls.set(callId, part);
    const last = this.answers.at(-1);
    (last?.role === "assistant" ? last : this.#newAnswer(at, undefined)).parts.push(part);
    return part;
  }

  #settle(part: ToolPart, update: AcpUpdate, at: number): void {
    // A call that a person rejected, or could not be asked about, stays rejected, whatever the agent calls that.
    if (this.#rejectedCalls.has(part.callId)) return;
    const shown = this.#profile.toolOutput?.(update, part) ?? toolText(update.content) ?? undefined;
    if (update.status === "in_progress") part.state = "running";
    if (update.status === "completed" || update.status === "failed") {
      part.state = update.status === "completed" ? "completed" : "error";
      part.endedAt = at;
    }
    if (part.state === "error") {
      part.error = shown || part.output || rawText(update.rawOutput) || part.error || "failed";
      part.output = null;
      return;
    }
    part.error = null;
    if (shown !== undefined && shown !== "") part.output = shown;
    else if (part.state === "completed") part.output ??= rawText(update.rawOutput);
  }

  #readAnswer({ requestId, reply, message, at }: Extract<TranscriptLine, { type: "answered" }>): Seen {
    const asked = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    const isRejected = reply === "rejected" || reply === "turned down";
    if (!isRejected && reply !== null) this.#rejectedCalls.delete(asked?.callId ?? "");
    if (asked === undefined || !isRejected) return null;
    const said = message === null ? `${reply} by a person` : `${reply} by a person: ${message}`;
    this.#rejected = { tool: asked.tool, message: said };
    return this.#refuse(asked.callId ?? requestId, asked.tool, said, at);
  }

  #readUnasked({ callId, tool, why, at }: Extract<TranscriptLine, { type: "unasked" }>): Seen {
    this.unasked = why;
    // Nothing is added to a full view: an agent may ask without end.
    if (this.isFull) return null;
    return this.#refuse(callId ?? `unasked-${this.calls.size}`, tool, why, at);
  }

  #refuse(callId: string, tool: string, said: string, at: number): Seen {
    const part = this.calls.get(callId) ?? this.#newCall(callId, tool, at);
    this.#rejectedCalls.add(part.callId);
    part.state = "error";
    part.error = said;
    part.output = null;
    part.endedAt = at;
    return { call: part };
  }
}

const WORK = new Set(["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"]);

/** Whether it comes from a model at work: commands, modes and titles are also sent before a prompt. */
function isWork({ sessionUpdate }: AcpUpdate): boolean {
  return WORK.has(sessionUpdate);
}

function newPart(callId: string, name: string, at: number): ToolPart {
  return {
    type: "tool",
    callId,
    name,
    state: "pending",
    title: null,
    input: {},
    output: null,
    error: null,
    startedAt: at,
    endedAt: null,
  };
}

function addText(parts: MessagePart[], type: "text" | "reasoning", text: string): void {
  const last = parts.at(-1);
  if (last?.type === type) last.text += text;
  else parts.push(type === "text" ? { type, text, hidden: false } : { type, text });
}

function rawText(raw: unknown): string {
  if (raw === undefined || raw === null) return "";
  if (typeof raw === "string") return raw;
  const { output, content, text, error, message } = recordOf(raw);
  const found = [output, content, text, error, message].find((each) => typeof each === "string");
  if (typeof found === "string") return found;
  return JSON.stringify(raw) ?? "";
}

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}
