/**
 * A scripted model that recognizes a script by its prompt, so that the pictures show prompts as a person types them. A
 * small proxy adds the script's marker to the prompt on its way from OpenCode to the model. Invariant: what OpenCode
 * stores and shows has no marker.
 */
import { type ChatBody, type ChatMessage, contentText } from "../../src/testing/models/chat-request.ts";
import { type OpenAiModel, type OpenAiModelOptions, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { type Script, scriptMarker } from "../../src/testing/models/script.ts";
import { modelId, openCodeConfig, providerId } from "../../src/testing/opencode/home.ts";

const SHOWN = { provider: "example", model: "large" };

export interface UnmarkedModel extends Pick<OpenAiModel, "url" | "gate" | "stop"> {
  /** OpenCode's configuration for this model; it has a price, so that costs are not empty. */
  config: Record<string, unknown>;
  /** Sessions that get this prompt, or one that begins with it, follow the steps. */
  script(prompt: string, steps: Script): void;
}

export function startUnmarkedModel(options: OpenAiModelOptions = {}): UnmarkedModel {
  const model = startOpenAiModel(options);
  const prompts: string[] = [];
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as ChatBody;
      for (const message of body.messages) if (message.role === "user") mark(message, prompts);
      const headers = new Headers(request.headers);
      for (const name of ["host", "content-length"]) headers.delete(name);
      const path = new URL(request.url).pathname;
      return fetch(new URL(path, model.url), { method: "POST", headers, body: JSON.stringify(body) });
    },
  });
  const url = `http://127.0.0.1:${proxy.port}/v1`;
  return {
    url,
    config: configFor(url),
    gate: model.gate,
    script(prompt, steps) {
      model.script(`prompt-${prompts.push(prompt) - 1}`, steps);
    },
    async stop() {
      await model.stop();
      await proxy.stop(true);
    },
  };
}

function mark(message: ChatMessage, prompts: readonly string[]): void {
  const text = contentText(message);
  const index = prompts.findIndex((prompt) => text.startsWith(prompt));
  if (index !== -1) message.content = `${text}\n${scriptMarker(`prompt-${index}`)}`;
}

function configFor(url: string): Record<string, unknown> {
  const { provider } = openCodeConfig({ model: { url } }) as {
    provider: Record<string, { models: Record<string, object> }>;
  };
  const { models, ...rest } = provider[providerId] ?? { models: {} };
  const model = { ...models[modelId], cost: { input: 3, output: 15 } };
  const name = `${SHOWN.provider}/${SHOWN.model}`;
  return {
    provider: { [SHOWN.provider]: { ...rest, models: { [SHOWN.model]: model } } },
    model: name,
    small_model: name,
  };
}
