/**
 * The wire format of a scripted model's answers in Anthropic's Messages API: the event stream, the complete message,
 * errors. Invariant: a complete stream starts, has its blocks one after the other, then a stop reason with usage, then
 * its stop; a cut one lacks the last two. Does not decide which answer to send.
 */
import { cutOff, type Rendered } from "./rendered-answer.ts";

export interface AnthropicUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
}

interface Identity {
  id: string;
  model: string;
}

const errorTypes: Record<number, string> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export function messagesErrorResponse(status: number, message: string, headers: Record<string, string> = {}): Response {
  const type = errorTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return Response.json({ type: "error", error: { type, message } }, { status, headers });
}

export function wholeMessage(rendered: Rendered, identity: Identity, usage: AnthropicUsage): Response {
  const text = rendered.pieces.join("");
  const calls = rendered.calls.map(({ id, name, arguments: input }) => ({
    ...toolUse(id, name),
    input: JSON.parse(input),
  }));
  const content = [...(text === "" ? [] : [{ type: "text", text }]), ...calls];
  return Response.json({ ...opening(identity, usage), content, stop_reason: stopReason(rendered), usage: full(usage) });
}

export function messageStream(rendered: Rendered, identity: Identity, usage: AnthropicUsage): Response {
  async function* events() {
    const message = opening(identity, usage);
    yield event("message_start", { message: { ...message, usage: { ...message.usage, output_tokens: 1 } } });
    yield* blocks(rendered);
    await cutOff(rendered);
    const delta = { stop_reason: stopReason(rendered), stop_sequence: null };
    yield event("message_delta", { delta, usage: full(usage) });
    yield event("message_stop", {});
  }
  return new Response(events(), { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
}

function* blocks({ pieces, calls, cut }: Rendered): Generator<Uint8Array> {
  let index = 0;
  const open = (block: object) => event("content_block_start", { index, content_block: block });
  const add = (delta: object) => event("content_block_delta", { index, delta });
  const close = () => event("content_block_stop", { index: index++ });
  if (pieces.length > 0) {
    yield open({ type: "text", text: "" });
    for (const text of pieces) yield add({ type: "text_delta", text });
    if (cut !== "no") return;
    yield close();
  }
  for (const { id, name, arguments: input } of calls) {
    yield open({ ...toolUse(id, name), input: {} });
    yield add({ type: "input_json_delta", partial_json: input });
    yield close();
  }
}

const encoder = new TextEncoder();

function event(type: string, fields: object): Uint8Array {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}

function opening({ id, model }: Identity, usage: AnthropicUsage) {
  const message = { id, type: "message", role: "assistant", model, content: [] };
  return { ...message, stop_reason: null, stop_sequence: null, usage: full(usage) };
}

function toolUse(id: string, name: string) {
  return { type: "tool_use", id, name };
}

function stopReason(rendered: Rendered): string {
  return rendered.calls.length > 0 ? "tool_use" : "end_turn";
}

function full(usage: AnthropicUsage) {
  return { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage };
}
