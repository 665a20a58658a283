/**
 * Reads a chat-completions request for a scripted model: messages, session, kind, and whether a real provider would
 * accept it. Invariant: `chatRefusal` is no stricter than OpenAI's API; whatever it rejects would fail there too.
 * Answers nothing and knows no scripts.
 */
import { firstScriptIn, ModelRequest, type ModelTurn, type RequestKind } from "./model-request.ts";

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

export function contentText(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

/** One request of an OpenAI client, as the functions of a script see it. */
export class ChatRequest extends ModelRequest {
  readonly sessionId: string;
  readonly body: ChatBody;
  readonly kind: RequestKind;

  /** `sessionId`: null if the client does not say. */
  constructor(sessionId: string | null, body: ChatBody) {
    super();
    this.body = body;
    this.sessionId = sessionId ?? firstScriptIn(this.userTexts);
    this.kind = kindOf(body.messages);
  }

  get messages(): ChatMessage[] {
    return this.body.messages;
  }

  get turns(): ModelTurn[] {
    return this.messages.map(turnOf);
  }

  get toolNames(): string[] {
    return (this.body.tools ?? []).map((tool) => tool.function.name);
  }
}

function turnOf(message: ChatMessage): ModelTurn {
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({ id, name, input }));
  if (message.role === "tool") {
    return {
      role: "other",
      text: "",
      calls,
      results: [{ callId: message.tool_call_id ?? "", text: contentText(message) }],
    };
  }
  const role = message.role === "user" || message.role === "assistant" ? message.role : "other";
  return { role, text: contentText(message), calls, results: [] };
}

function kindOf(messages: ChatMessage[]): RequestKind {
  const system = messages.filter((message) => message.role === "system").map(contentText);
  if (system.some((text) => text.startsWith("You are a title generator"))) return "title";
  if (system.some((text) => /^You are [^.]*(summariz|compact)/i.test(text))) return "summary";
  return "turn";
}

/** Why a real provider would respond with 400; undefined if it would accept the request. */
export function chatRefusal(body: ChatBody): string | undefined {
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
    if (message.role === "user" && contentText(message) === "" && !hasAttachment(message)) {
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
