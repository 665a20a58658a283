/**
 * The scripted model for its users, in any wire format: a server on 127.0.0.1 that answers sessions from scripts.
 * Invariant: it needs no key, reaches no network, and outlives restarts of its client. Callers supply formats and
 * routes.
 */

import { defaultTimeoutMs } from "../recorder.ts";
import type { Gate } from "./gates.ts";
import type { ModelEndpoint, RecordedRequest, WireRequest } from "./model-endpoint.ts";
import type { Script } from "./script.ts";

export interface ScriptedModel<R extends WireRequest> {
  /** The base URL for clients. */
  url: string;
  /** Adds or replaces a script; sessions that follow it keep their position. */
  script(name: string, steps: Script): void;
  gate(name: string): Gate;
  requests: RecordedRequest<R>[];
  /** The turns of a session, or of an agent inside one, without the client's own requests for titles and summaries. */
  requestsOf(speaker: string): RecordedRequest<R>[];
  /** The first matching request, past or future. */
  waitForRequest(predicate: (request: RecordedRequest<R>) => boolean, timeoutMs?: number): Promise<RecordedRequest<R>>;
  waitForRequests(
    predicate: (request: RecordedRequest<R>) => boolean,
    count: number,
    timeoutMs?: number,
  ): Promise<RecordedRequest<R>[]>;
  /** Opens all gates and closes all connections. */
  stop(): Promise<void>;
}

interface Serving<R extends WireRequest, U extends object> {
  endpoint: ModelEndpoint<R, U>;
  /** The path for turns. */
  path: string;
  /** The part of its address that clients put before their own paths. */
  base: string;
  scripts: Record<string, Script>;
  /** Requests on that path that are not turns. */
  isAside?: (request: Request) => boolean;
  /** Answers other requests of clients; undefined if it does not know them. */
  aside?: (request: Request) => Promise<Response | undefined> | Response | undefined;
}

export function serveModel<R extends WireRequest, U extends object>(serving: Serving<R, U>): ScriptedModel<R> {
  const { endpoint, path, base, aside, isAside } = serving;
  const { book, record, wire } = endpoint;
  for (const [name, steps] of Object.entries(serving.scripts)) book.register(name, steps);
  const other = async (request: Request) =>
    (await aside?.(request)) ?? wire.error(404, `No endpoint ${request.method} ${request.url}`);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    reusePort: false,
    // Otherwise Bun prints every scripted cut of a stream as an error.
    development: false,
    routes: {
      [path]: { POST: (request: Request) => (isAside?.(request) ? other(request) : endpoint.answer(request)) },
    },
    fetch: other,
    error: (error) => wire.error(500, error.message),
  });
  return {
    url: `http://127.0.0.1:${server.port}${base}`,
    script: (name, steps) => book.register(name, steps),
    gate: (name) => endpoint.gate(name),
    requests: record.items,
    requestsOf: (id) => record.items.filter((entry) => entry.request.speaker === id && entry.kind === "turn"),
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
