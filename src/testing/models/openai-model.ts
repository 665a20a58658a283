/**
 * The scripted model in OpenAI's format: chat completions, for OpenCode and others. Invariant: the header
 * `x-session-affinity` identifies a session (without it, the first script that its prompts name), which follows the
 * script that its prompts name with `[[script:NAME]]`. Recording, holding and answering requests is shared by all
 * formats, and is not done here.
 */
import { type ChatBody, ChatRequest, chatRefusal } from "./chat-request.ts";
import { type ChatUsage, chatErrorResponse, completion, stream } from "./chat-response.ts";
import { type ModelDefaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface OpenAiModelOptions extends ModelDefaults<ChatRequest, ChatUsage> {
  scripts?: Record<string, Script>;
}

/** Use its `url` as the provider's baseURL; it ends in /v1. */
export type OpenAiModel = ScriptedModel<ChatRequest>;

const wire: Wire<ChatRequest, ChatUsage> = {
  usage: { prompt_tokens: 100, completion_tokens: 20 },
  read: (headers, body) => new ChatRequest(headers.get("x-session-affinity"), body as ChatBody),
  refusal: chatRefusal,
  error: chatErrorResponse,
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
