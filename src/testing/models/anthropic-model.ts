/**
 * Owns the scripted model in Anthropic's format: the Messages API, for Claude's CLI and SDK.
 * Invariant: a session is known by the header `x-claude-code-session-id` and an agent inside it by `x-claude-code-agent-id`; each
 * follows the script that its own prompts name with `[[script:NAME]]`. What clients ask besides turns is answered harmlessly.
 */
import { refusal } from "./messages-refusal.ts";
import { type MessagesBody, MessagesRequest } from "./messages-request.ts";
import { type AnthropicUsage, errorResponse, messageStream, wholeMessage } from "./messages-response.ts";
import { type Defaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface AnthropicModelOptions extends Defaults<MessagesRequest, AnthropicUsage> {
  scripts?: Record<string, Script>;
}

/** Its `url` is for `ANTHROPIC_BASE_URL`. */
export type AnthropicModel = ScriptedModel<MessagesRequest>;

const wire: Wire<MessagesRequest, AnthropicUsage> = {
  usage: { input_tokens: 100, output_tokens: 20 },
  read: (headers, body) => new MessagesRequest(headers, body as MessagesBody),
  refusal,
  error: errorResponse,
  newCallId: (index) => `toolu_${index}_${crypto.randomUUID().slice(0, 8)}`,
  write(rendered, { body, index }, usage) {
    const send = body.stream === true ? messageStream : wholeMessage;
    return send(rendered, { id: `msg_${index}_${crypto.randomUUID().slice(0, 8)}`, model: body.model }, usage);
  },
};

export function startAnthropicModel(options: AnthropicModelOptions = {}): AnthropicModel {
  const endpoint = new ModelEndpoint(wire, options);
  return serveModel({ endpoint, path: "/v1/messages", base: "", scripts: options.scripts ?? {}, aside });
}

async function aside(request: Request): Promise<Response | undefined> {
  if (request.method === "HEAD") return new Response(null);
  if (new URL(request.url).pathname !== "/v1/messages/count_tokens") return undefined;
  return Response.json({ input_tokens: (await request.text()).length >> 2 });
}
