/**
 * Owns what a scripted model reads from a chat-completions request: messages, session, kind, and whether a real provider would take it.
 * Invariant: `refusal` is no stricter than OpenAI's API; what it refuses would fail there too.
 * It answers nothing and knows no scripts.
 */

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type ChatContent = string | null | { type: string; text?: string }[];

export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content?: ChatContent;
  tool_calls?: ChatToolCall[];
  tool_call_id?: string;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  tools?: { type: string; function: { name: string; parameters?: unknown } }[];
  [field: string]: unknown;
}

/** `title` and `summary` are OpenCode's own requests (naming a session, compacting it); they never consume a step. */
export type RequestKind = "turn" | "title" | "summary";

export function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

/** One request as a script's functions see it. */
export class ModelRequest {
  readonly sessionId: string;
  readonly body: ChatBody;
  readonly kind: RequestKind;

  constructor(sessionId: string, body: ChatBody) {
    this.sessionId = sessionId;
    this.body = body;
    this.kind = kindOf(body.messages);
  }

  get messages(): ChatMessage[] {
    return this.body.messages;
  }

  /** The names of the tools that the model is offered. */
  get toolNames(): string[] {
    return (this.body.tools ?? []).map((tool) => tool.function.name);
  }

  get userTexts(): string[] {
    return this.messages.filter((message) => message.role === "user").map(textOf);
  }

  get lastUserText(): string {
    return this.userTexts.at(-1) ?? "";
  }

  /** The results of a tool so far (of all tools when no name is given), oldest first. */
  toolResults(name?: string): string[] {
    const names = new Map<string, string>();
    const results: string[] = [];
    for (const message of this.messages) {
      for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
      if (message.role !== "tool" || message.tool_call_id === undefined) continue;
      if (name === undefined || names.get(message.tool_call_id) === name) results.push(textOf(message));
    }
    return results;
  }

  /** The newest result of a tool; throws when there is none, since the script would go on with nothing. */
  toolResult(name?: string): string {
    const result = this.toolResults(name).at(-1);
    if (result === undefined) throw new Error(`The request holds no result of ${name ?? "any tool"}.`);
    return result;
  }

  /** The first capture (or else the whole match) of a pattern in the newest tool result that matches it. */
  fromToolResults(pattern: RegExp, name?: string): string {
    for (const result of this.toolResults(name).reverse()) {
      const match = pattern.exec(result);
      if (match) return match[1] ?? match[0];
    }
    throw new Error(
      `No result of ${name ?? "any tool"} matches ${pattern}. Results: ${JSON.stringify(this.toolResults(name))}`,
    );
  }
}

function kindOf(messages: ChatMessage[]): RequestKind {
  const system = messages.filter((message) => message.role === "system").map(textOf);
  if (system.some((text) => text.startsWith("You are a title generator"))) return "title";
  if (system.some((text) => /^You are [^.]*(summariz|compact)/i.test(text))) return "summary";
  return "turn";
}

/** Why a real provider would answer 400, or undefined when it would take the request. */
export function refusal(body: ChatBody): string | undefined {
  const messages = body.messages;
  if (!Array.isArray(messages) || messages.length === 0) return "'messages' must be a non-empty array.";
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.[${index}]`;
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id ?? "")) {
        return `Invalid parameter: ${at} has role 'tool' but answers no preceding 'tool_calls' (tool_call_id '${message.tool_call_id}').`;
      }
      continue;
    }
    if (open.size > 0) return unanswered(at, open);
    if (message.role === "user" && textOf(message) === "" && !hasAttachment(message)) {
      return `Invalid value for '${at}.content': a user message must not be empty.`;
    }
    open = new Set((message.tool_calls ?? []).map((call) => call.id));
  }
  return open.size > 0 ? unanswered("the end", open) : undefined;
}

function hasAttachment(message: ChatMessage): boolean {
  return Array.isArray(message.content) && message.content.some((part) => part.type !== "text");
}

function unanswered(at: string, open: Set<string>): string {
  const ids = [...open].join(", ");
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Before ${at} these had no response: ${ids}`;
}
