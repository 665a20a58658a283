/**
 * Reads a request to Gemini's API for a scripted model: session, messages, function calls and their responses.
 * Invariant: the first script that its prompts name identifies a session, since the format has no id for one. Answers
 * nothing and knows no scripts.
 */
import { firstScriptIn, ModelRequest, type ModelTurn, type RequestKind } from "./model-request.ts";

interface GeminiPart {
  text?: string;
  functionCall?: { id?: string; name: string; args?: unknown };
  functionResponse?: { id?: string; name: string; response?: unknown };
}

interface GeminiContent {
  role?: string;
  parts?: GeminiPart[];
}

export interface GeminiBody {
  contents: GeminiContent[];
  tools?: { functionDeclarations?: { name: string }[] }[];
  [field: string]: unknown;
}

export class GeminiRequest extends ModelRequest {
  readonly sessionId: string;
  readonly body: GeminiBody;
  readonly kind: RequestKind = "turn";

  constructor(body: GeminiBody) {
    super();
    this.body = body;
    this.sessionId = firstScriptIn(this.userTexts);
  }

  get turns(): ModelTurn[] {
    return this.body.contents.map(turnOf);
  }

  get toolNames(): string[] {
    return (this.body.tools ?? []).flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => name),
    );
  }
}

function turnOf({ role, parts = [] }: GeminiContent): ModelTurn {
  return {
    role: role === "model" ? "assistant" : "user",
    text: parts.flatMap(({ text }) => text ?? []).join("\n"),
    calls: parts.flatMap(({ functionCall: call }) =>
      call ? [{ id: call.id ?? call.name, name: call.name, input: JSON.stringify(call.args ?? {}) }] : [],
    ),
    results: parts.flatMap(({ functionResponse: result }) =>
      result ? [{ callId: result.id ?? result.name, text: JSON.stringify(result.response ?? {}) }] : [],
    ),
  };
}

/** Why a real provider would respond with 400; undefined if it would accept the request. */
export function geminiRefusal({ contents }: GeminiBody): string | undefined {
  if (!Array.isArray(contents) || contents.length === 0) return "contents is not specified";
  return contents.some(({ parts }) => (parts ?? []).length === 0) ? "contents.parts must not be empty." : undefined;
}
