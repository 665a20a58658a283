/**
 * A scripted model that records when each request arrives and when the last byte of its answer is handed to the
 * socket. Invariant: arrival is recorded before the body is read, so that a longer context does not count as a later
 * request. It rejects nothing and cannot fail, unlike the scripted model of the tests. Requests for a title are
 * answered and forgotten.
 */
import { type ChatBody, ChatRequest } from "../../src/testing/models/chat-request.ts";
import { stream } from "../../src/testing/models/chat-response.ts";
import { Gate } from "../../src/testing/models/gates.ts";
import { render } from "../../src/testing/models/rendered-answer.ts";
import { resolve, type Script, say } from "../../src/testing/models/script.ts";
import { ScriptBook } from "../../src/testing/models/script-book.ts";
import { Recorder } from "../../src/testing/recorder.ts";

export interface Exchange {
  sessionId: string;
  request: ChatRequest;
  /** Both from `performance.now()`, in ms. */
  arrivedAt: number;
  answeredAt: number | null;
}

export interface StampedModel {
  url: string;
  gate(name: string): Gate;
  /** The first N requests of a session, past or future. */
  exchanges(sessionId: string, count: number): Promise<Exchange[]>;
  /** The first request whose last user message contains the text. */
  exchangeWith(text: string, timeoutMs?: number): Promise<Exchange>;
  /** The first matching request, past or future. */
  exchange(matches: (exchange: Exchange) => boolean, timeoutMs?: number): Promise<Exchange>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 30_000;
const TITLE = { type: "text", text: "A title", chunks: 1 } as const;
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

export function startStampedModel(scripts: Record<string, Script>): StampedModel {
  const book = new ScriptBook(say("ok"));
  for (const [name, steps] of Object.entries(scripts)) book.register(name, steps);
  const gates = new Map<string, Gate>();
  const record = new Recorder<Exchange>(
    ({ sessionId, request }) => `${sessionId} "${request.lastUserText.slice(0, 80)}"`,
  );
  const gate = (name: string): Gate => {
    const known = gates.get(name) ?? new Gate(name);
    gates.set(name, known);
    return known;
  };

  async function answer(http: Request): Promise<Response> {
    const arrivedAt = performance.now();
    const sessionId = http.headers.get("x-session-affinity") ?? "";
    const request = new ChatRequest(sessionId, (await http.json()) as ChatBody);
    if (request.kind === "title") return streamed(TITLE, request);
    const exchange: Exchange = { sessionId, request, arrivedAt, answeredAt: null };
    record.push(exchange);
    const { modifiers, answer: planned } = book.next(request);
    for (const modifier of modifiers) {
      if (modifier.type === "gate") await gate(resolve(modifier.name, request)).pass(http.signal);
      else await Bun.sleep(modifier.ms);
    }
    if (planned.type === "httpFailure") throw new Error("The scripts of a benchmark do not fail.");
    const response = streamed(planned, request);
    return new Response(stamped(response, exchange), { headers: response.headers });
  }

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, development: false, fetch: answer });
  const waiting = (timeoutMs = PATIENCE_MS) => ({ timeoutMs, what: "model requests" });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    gate,
    exchanges: (id, count) => record.waitForCount((exchange) => exchange.sessionId === id, count, waiting()),
    exchangeWith: (text, timeoutMs) =>
      record.waitFor((exchange) => exchange.request.lastUserText.includes(text), waiting(timeoutMs)),
    exchange: (matches, timeoutMs) => record.waitFor(matches, waiting(timeoutMs)),
    async stop() {
      for (const each of gates.values()) each.open();
      await server.stop(true);
    },
  };
}

function streamed(planned: Parameters<typeof render>[0], request: ChatRequest): Response {
  const id = () => crypto.randomUUID().slice(0, 8);
  return stream(render(planned, request, id), request.body.model, `chatcmpl-${id()}`, USAGE);
}

async function* stamped(response: Response, exchange: Exchange): AsyncGenerator<Uint8Array> {
  for await (const chunk of response.body ?? []) yield chunk;
  exchange.answeredAt = performance.now();
}
