/**
 * The wire format of the scripted model's answers: chat-completion SSE chunks, the non-streamed form, and OpenAI-like
 * errors. Invariant: a complete stream has content, then one finish reason, then usage, then `[DONE]`; a cut one lacks
 * the last three. Does not decide which answer to send.
 */
import { cutOff, type Rendered, type RenderedCall } from "./rendered-answer.ts";

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
}

export function chatErrorResponse(status: number, message: string, headers: Record<string, string> = {}): Response {
  // Clients read the type as well as the status: OpenCode retries on "server_error" even if the status is 400.
  const type = status === 429 ? "rate_limit_exceeded" : status >= 500 ? "server_error" : "invalid_request_error";
  return Response.json({ error: { message, type, param: null, code: null } }, { status, headers });
}

export function completion(rendered: Rendered, model: string, id: string, usage: ChatUsage): Response {
  const { pieces, calls } = rendered;
  const message = {
    role: "assistant",
    content: pieces.join("") || null,
    ...(calls.length > 0 ? { tool_calls: calls.map(toolCall) } : {}),
  };
  const choice = { index: 0, message, finish_reason: finishReason(rendered) };
  return Response.json({ id, object: "chat.completion", created: 0, model, choices: [choice], usage: total(usage) });
}

export function stream(rendered: Rendered, model: string, id: string, usage: ChatUsage): Response {
  const encoder = new TextEncoder();
  const chunk = (fields: object) =>
    encoder.encode(
      `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 0, model, ...fields })}\n\n`,
    );
  const delta = (content: object, reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason: reason }] });
  async function* chunks() {
    yield delta({ role: "assistant", content: "" });
    for (const content of rendered.pieces) yield delta({ content });
    for (const [index, call] of rendered.calls.entries()) yield delta({ tool_calls: [{ index, ...toolCall(call) }] });
    await cutOff(rendered);
    yield delta({}, finishReason(rendered));
    yield chunk({ choices: [], usage: total(usage) });
    yield encoder.encode("data: [DONE]\n\n");
  }
  return new Response(chunks(), { headers: { "content-type": "text/event-stream", "cache-control": "no-cache" } });
}

function toolCall(call: RenderedCall) {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function finishReason(rendered: Rendered): string {
  return rendered.calls.length > 0 ? "tool_calls" : "stop";
}

function total(usage: ChatUsage) {
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}
