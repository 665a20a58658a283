/**
 * The scripted model in the format of OpenAI's Responses API, for Codex. Invariant: a complete stream is created, has
 * its items one after the other, and is completed with its usage; a cut one lacks the last. Recording, holding and
 * answering requests is shared by all formats, and is not done here.
 */
import { chatErrorResponse } from "./chat-response.ts";
import { type ModelDefaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import { cutOff, type Rendered } from "./rendered-answer.ts";
import { type ResponsesBody, ResponsesRequest, responsesRefusal } from "./responses-request.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface ResponsesUsage {
  input_tokens: number;
  output_tokens: number;
}

export interface ResponsesModelOptions extends ModelDefaults<ResponsesRequest, ResponsesUsage> {
  scripts?: Record<string, Script>;
}

/** Use its `url` as the provider's base URL; it ends in /v1. */
export type ResponsesModel = ScriptedModel<ResponsesRequest>;

const wire: Wire<ResponsesRequest, ResponsesUsage> = {
  usage: { input_tokens: 100, output_tokens: 20 },
  read: (_headers, body) => new ResponsesRequest(body as ResponsesBody),
  refusal: responsesRefusal,
  error: chatErrorResponse,
  newCallId: (index) => `call_${index}_${crypto.randomUUID().slice(0, 8)}`,
  write: (rendered, { index }, usage) => responseStream(rendered, `resp_${index}`, usage),
};

export function startResponsesModel(options: ResponsesModelOptions = {}): ResponsesModel {
  const endpoint = new ModelEndpoint(wire, options);
  return serveModel({ endpoint, path: "/v1/responses", base: "/v1", scripts: options.scripts ?? {} });
}

function responseStream(rendered: Rendered, id: string, usage: ResponsesUsage): Response {
  async function* events() {
    yield event("response.created", { response: { id } });
    yield* items(rendered, id);
    await cutOff(rendered);
    const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
    const total_tokens = usage.input_tokens + usage.output_tokens;
    yield event("response.completed", { response: { id, usage: { ...usage, ...details, total_tokens } } });
  }
  return new Response(events(), { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
}

function* items({ pieces, calls, cut }: Rendered, id: string): Generator<Uint8Array> {
  let index = 0;
  if (pieces.length > 0) {
    const item = { type: "message", role: "assistant", id: `msg_${id}`, content: [] as object[] };
    const at = { output_index: index, item_id: item.id, content_index: 0 };
    yield event("response.output_item.added", { output_index: index, item });
    for (const delta of pieces) yield event("response.output_text.delta", { ...at, delta });
    if (cut !== "no") return;
    item.content = [{ type: "output_text", text: pieces.join(""), annotations: [] }];
    yield event("response.output_item.done", { output_index: index++, item });
  }
  for (const { id: call_id, name, arguments: input } of calls) {
    const item = { type: "function_call", id: `fc_${call_id}`, call_id, name, arguments: input };
    yield event("response.output_item.added", { output_index: index, item: { ...item, arguments: "" } });
    yield event("response.output_item.done", { output_index: index++, item });
  }
}

const encoder = new TextEncoder();

function event(type: string, fields: object): Uint8Array {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}
