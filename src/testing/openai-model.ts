/**
 * Owns the scripted model server: an OpenAI-compatible endpoint on 127.0.0.1 that answers each session from its script.
 * Invariant: a session is known by the header `x-session-affinity`, and follows the script that its prompts name with
 * `[[script:NAME]]`. It needs no key, reaches no network, and outlives restarts of the program that asks it.
 */
import { ChatEndpoint, type Defaults, type RecordedRequest } from "./chat-endpoint.ts";
import { errorResponse } from "./chat-response.ts";
import type { Gate } from "./gates.ts";
import { defaultTimeoutMs } from "./recorder.ts";
import type { Script } from "./script.ts";

export interface OpenAiModelOptions extends Defaults {
  scripts?: Record<string, Script>;
}

export interface OpenAiModel {
  /** The provider's baseURL, ending in /v1. */
  url: string;
  /** Registers a script, or replaces it; sessions that follow it keep their place. */
  script(name: string, steps: Script): void;
  gate(name: string): Gate;
  requests: RecordedRequest[];
  /** The turns of a session: without the requests for titles and summaries. */
  requestsOf(sessionId: string): RecordedRequest[];
  /** The first request that fits, past or to come. */
  waitForRequest(predicate: (request: RecordedRequest) => boolean, timeoutMs?: number): Promise<RecordedRequest>;
  waitForRequests(
    predicate: (request: RecordedRequest) => boolean,
    count: number,
    timeoutMs?: number,
  ): Promise<RecordedRequest[]>;
  /** Opens all gates and closes all connections. */
  stop(): Promise<void>;
}

export function startOpenAiModel(options: OpenAiModelOptions = {}): OpenAiModel {
  const endpoint = new ChatEndpoint(options);
  const { book, record } = endpoint;
  for (const [name, steps] of Object.entries(options.scripts ?? {})) book.register(name, steps);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    // Otherwise Bun prints every scripted cut of a stream as an error.
    development: false,
    routes: { "/v1/chat/completions": { POST: (request) => endpoint.answer(request) } },
    fetch: (request) => errorResponse(404, `No endpoint ${request.method} ${request.url}`),
    error: (error) => errorResponse(500, error.message),
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    script: (name, steps) => book.register(name, steps),
    gate: (name) => endpoint.gate(name),
    requests: record.items,
    requestsOf: (id) => record.items.filter((entry) => entry.sessionId === id && entry.kind === "turn"),
    waitForRequest: (predicate, timeoutMs = defaultTimeoutMs) =>
      record.waitFor(predicate, { what: "a model request", timeoutMs }),
    waitForRequests: (predicate, count, timeoutMs = defaultTimeoutMs) =>
      record.waitForCount(predicate, count, { what: "model requests", timeoutMs }),
    async stop() {
      endpoint.openAllGates();
      await server.stop(true);
    },
  };
}
