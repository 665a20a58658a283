/**
 * Reads a request to OpenAI's Responses API for a scripted model: session, messages, tool calls and their results.
 * Invariant: the client's cache key identifies a session; without one, the first script that its prompts name does.
 * Answers nothing and knows no scripts.
 */
import { firstScriptIn, ModelRequest, type ModelTurn, type RequestKind } from "./model-request.ts";

interface ResponsesItem {
  type?: string;
  role?: string;
  content?: string | { type: string; text?: string }[];
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: unknown;
}

export interface ResponsesBody {
  model: string;
  input: string | ResponsesItem[];
  stream?: boolean;
  tools?: { type: string; name?: string }[];
  prompt_cache_key?: string;
  [field: string]: unknown;
}

export class ResponsesRequest extends ModelRequest {
  readonly sessionId: string;
  readonly body: ResponsesBody;
  readonly kind: RequestKind = "turn";

  constructor(body: ResponsesBody) {
    super();
    this.body = body;
    this.sessionId = body.prompt_cache_key ?? firstScriptIn(this.userTexts);
  }

  get turns(): ModelTurn[] {
    const { input } = this.body;
    return (typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input).map(turnOf);
  }

  get toolNames(): string[] {
    return (this.body.tools ?? []).flatMap(({ name }) => name ?? []);
  }
}

function turnOf({
  type,
  role,
  content,
  call_id = "",
  name = "",
  arguments: input = "",
  output,
}: ResponsesItem): ModelTurn {
  const nothing: ModelTurn = { role: "other", text: "", calls: [], results: [] };
  if (type === "function_call") return { ...nothing, role: "assistant", calls: [{ id: call_id, name, input }] };
  if (type === "function_call_output") return { ...nothing, results: [{ callId: call_id, text: outputText(output) }] };
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
  return { ...nothing, role: role === "user" || role === "assistant" ? role : "other", text };
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

/** Why a real provider would respond with 400; undefined if it would accept the request. */
export function responsesRefusal({ input }: ResponsesBody): string | undefined {
  if (typeof input === "string") return undefined;
  if (!Array.isArray(input) || input.length === 0) return "'input' must be a non-empty array.";
  const calls = new Set(input.flatMap(({ type, call_id }) => (type === "function_call" ? [call_id] : [])));
  const stray = input.find(({ type, call_id }) => type === "function_call_output" && !calls.has(call_id));
  return stray && `No tool call found for function call output with call_id ${stray.call_id}.`;
}
