/**
 * The scripted model in Anthropic's format: the Messages API, for Claude's CLI and SDK. Invariant: the header
 * `x-claude-code-session-id` identifies a session and `x-claude-code-agent-id` an agent inside it; each follows the
 * script that its own prompts name with `[[script:NAME]]`. Other requests of clients get harmless answers.
 */
import { messagesRefusal } from "./messages-refusal.ts";
import { type MessagesBody, MessagesRequest } from "./messages-request.ts";
import { type AnthropicUsage, messageStream, messagesErrorResponse, wholeMessage } from "./messages-response.ts";
import { type ModelDefaults, ModelEndpoint, type Wire } from "./model-endpoint.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, serveModel } from "./scripted-model.ts";

export interface AnthropicModelOptions extends ModelDefaults<MessagesRequest, AnthropicUsage> {
  scripts?: Record<string, Script>;
}

/** Use its `url` as `ANTHROPIC_BASE_URL`. */
export type AnthropicModel = ScriptedModel<MessagesRequest>;

const wire: Wire<MessagesRequest, AnthropicUsage> = {
  usage: { input_tokens: 100, output_tokens: 20 },
  read: (headers, body) => new MessagesRequest(headers, body as MessagesBody),
  refusal: messagesRefusal,
  error: messagesErrorResponse,
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
