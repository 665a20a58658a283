/**
 * Owns the scripted model in OpenAI's format: chat completions, for OpenCode.
 * Invariant: a session is known by the header `x-session-affinity`, and follows the script that its prompts name with
 * `[[script:NAME]]`. How requests are recorded, held and answered is the same for every format, and not here.
 */
import { type ChatBody, ChatRequest, refusal } from "./chat-request.ts";
import { completion, errorResponse, stream, type Usage } from "./chat-response.ts";
import { type Defaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface OpenAiModelOptions extends Defaults<ChatRequest, Usage> {
  scripts?: Record<string, Script>;
}

/** Its `url` is the provider's baseURL, ending in /v1. */
export type OpenAiModel = ScriptedModel<ChatRequest>;

const wire: Wire<ChatRequest, Usage> = {
  usage: { prompt_tokens: 100, completion_tokens: 20 },
  read: (headers, body) => new ChatRequest(headers.get("x-session-affinity") ?? "", body as ChatBody),
  refusal,
  error: errorResponse,
  newCallId: (index) => `call_${index}_${crypto.randomUUID().slice(0, 8)}`,
  write(rendered, { body, index }, usage) {
    const send = body.stream === true ? stream : completion;
    return send(rendered, body.model, `chatcmpl-${index}`, usage);
  },
};

export function startOpenAiModel(options: OpenAiModelOptions = {}): OpenAiModel {
  const endpoint = new ModelEndpoint(wire, options);
  return serveModel({ endpoint, path: "/v1/chat/completions", base: "/v1", scripts: options.scripts ?? {} });
}
