/**
 * The scripted model in Gemini's format, for the Gemini CLI. Invariant: a complete stream ends with a finish reason and
 * its usage; a cut one lacks both. Only streamed requests consume steps; the client's other requests get harmless
 * answers. Recording, holding and answering requests is shared by all formats, and is not done here.
 */
import { type GeminiBody, GeminiRequest, geminiRefusal } from "./gemini-request.ts";
import { type ModelDefaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import { cutOff, type Rendered } from "./rendered-answer.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface GeminiUsage {
  promptTokenCount: number;
  candidatesTokenCount: number;
}

export interface GeminiModelOptions extends ModelDefaults<GeminiRequest, GeminiUsage> {
  scripts?: Record<string, Script>;
}

/** Use its `url` as `GOOGLE_GEMINI_BASE_URL`. */
export type GeminiModel = ScriptedModel<GeminiRequest>;

const STATUSES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

const wire: Wire<GeminiRequest, GeminiUsage> = {
  usage: { promptTokenCount: 100, candidatesTokenCount: 20 },
  read: (_headers, body) => new GeminiRequest(body as GeminiBody),
  refusal: geminiRefusal,
  error: (code, message, headers = {}) =>
    Response.json({ error: { code, message, status: STATUSES[code] ?? "INTERNAL" } }, { status: code, headers }),
  newCallId: (index) => `call_${index}_${crypto.randomUUID().slice(0, 8)}`,
  write: (rendered, _entry, usage) => contentStream(rendered, usage),
};

export function startGeminiModel(options: GeminiModelOptions = {}): GeminiModel {
  const endpoint = new ModelEndpoint(wire, options);
  return serveModel({
    endpoint,
    path: "/v1beta/models/:call",
    base: "",
    scripts: options.scripts ?? {},
    isAside,
    aside,
  });
}

function isAside(request: Request): boolean {
  return !new URL(request.url).pathname.endsWith(":streamGenerateContent");
}

function aside(request: Request): Response | undefined {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith(":countTokens")) return Response.json({ totalTokens: 100 });
  if (!pathname.endsWith(":generateContent")) return undefined;
  return Response.json({ ...candidate([{ text: "{}" }], true), usageMetadata: full(wire.usage) });
}

function contentStream(rendered: Rendered, usage: GeminiUsage): Response {
  const encoder = new TextEncoder();
  const event = (fields: object) => encoder.encode(`data: ${JSON.stringify(fields)}\n\n`);
  async function* events() {
    for (const text of rendered.pieces) yield event(candidate([{ text }], false));
    for (const { id, name, arguments: input } of rendered.calls) {
      yield event(candidate([{ functionCall: { id, name, args: JSON.parse(input) } }], false));
    }
    await cutOff(rendered);
    yield event({ ...candidate([{ text: "" }], true), usageMetadata: full(usage) });
  }
  return new Response(events(), { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
}

function candidate(parts: object[], isLast: boolean) {
  return { candidates: [{ index: 0, content: { role: "model", parts }, ...(isLast && { finishReason: "STOP" }) }] };
}

function full(usage: GeminiUsage) {
  return { ...usage, totalTokenCount: usage.promptTokenCount + usage.candidatesTokenCount };
}
