/**
 * Reads a request to Anthropic's Messages API for a scripted model: session, agent, kind, messages. Invariant: an agent
 * inside a session is a separate speaker, identified by the headers of Claude's CLI. Answers nothing and knows no
 * scripts.
 */
import { ModelRequest, type ModelTurn, type RequestKind } from "./model-request.ts";

export interface ContentBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | ContentBlock[];
  [field: string]: unknown;
}

export interface AnthropicMessage {
  role: "user" | "assistant" | "system";
  content: string | ContentBlock[];
}

export interface MessagesBody {
  model: string;
  messages: AnthropicMessage[];
  max_tokens?: number;
  system?: string | ContentBlock[];
  stream?: boolean;
  tools?: { name: string }[];
  [field: string]: unknown;
}

/** One request of an Anthropic client, as the functions of a script see it. */
export class MessagesRequest extends ModelRequest {
  readonly sessionId: string;
  /** The agent inside the session that sent it; null for the session itself. */
  readonly agentId: string | null;
  readonly body: MessagesBody;
  readonly kind: RequestKind;

  constructor(headers: Headers, body: MessagesBody) {
    super();
    this.sessionId = headers.get("x-claude-code-session-id") ?? "";
    this.agentId = headers.get("x-claude-code-agent-id");
    this.body = body;
    this.kind = kindOf(body);
  }

  override get speaker(): string {
    return this.agentId ?? this.sessionId;
  }

  get turns(): ModelTurn[] {
    return this.body.messages.map(turnOf);
  }

  get toolNames(): string[] {
    return (this.body.tools ?? []).map((tool) => tool.name);
  }
}

export function blocksOf(content: string | ContentBlock[] | undefined): ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

function turnOf({ role, content }: AnthropicMessage): ModelTurn {
  const blocks = blocksOf(content);
  return {
    role: role === "system" ? "other" : role,
    text: textIn(blocks),
    calls: blocks.flatMap(({ type, id, name, input }) =>
      type === "tool_use" && id !== undefined && name !== undefined ? [{ id, name, input: JSON.stringify(input) }] : [],
    ),
    results: blocks.flatMap(({ type, tool_use_id: callId, content: result }) =>
      type === "tool_result" && callId !== undefined ? [{ callId, text: textIn(blocksOf(result)) }] : [],
    ),
  };
}

function textIn(blocks: ContentBlock[]): string {
  return blocks.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}

/** The CLI's own requests bring no tools, or allow hardly any output. */
function kindOf(body: MessagesBody): RequestKind {
  if (body.max_tokens === 1) return "probe";
  if ((body.tools ?? []).length > 0) return "turn";
  const system = textIn(blocksOf(body.system));
  if (/\btitle\b/i.test(system)) return "title";
  return /summar/i.test(system) ? "summary" : "turn";
}
