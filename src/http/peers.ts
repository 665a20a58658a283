/**
 * The other servers that share this store. A request that only another process can answer is forwarded to it, once.
 * Servers are found by their files (`discovery.ts`), never by a name that came with a request.
 */

import { AsyncAgentsError } from "../model/errors.ts";
import { DEPTH_HEADER, DOOR_HEADER } from "../protocol/call-origin.ts";
import type { ServerRecord } from "./discovery.ts";
import { CORS } from "./reply.ts";

const FORWARDED = "x-asyncagents-forwarded";
/** Longer than the longest wait that a request may ask for. */
const PATIENCE_MS = 60_000;

export function isForwarded(request: Request): boolean {
  return request.headers.has(FORWARDED);
}

export class Peers {
  readonly #servers: () => ServerRecord[];

  constructor(servers: () => ServerRecord[]) {
    this.#servers = servers;
  }

  /** The process that has the board; null if none is running. */
  daemon(): number | null {
    return this.#servers().find((server) => server.kind === "daemon")?.pid ?? null;
  }

  /**
   * Forwards the request to the server of that process, with `body` if it was read already, and returns its response.
   */
  async forward(pid: number, request: Request, body?: unknown): Promise<Response> {
    const peer = this.#servers().find((server) => server.pid === pid);
    if (!peer || isForwarded(request)) throw unavailable(pid);
    const { pathname, search } = new URL(request.url);
    const headers: Record<string, string> = { [FORWARDED]: "1", authorization: `Bearer ${peer.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    // The original caller: a server that forwards a request is not its caller.
    for (const name of [DOOR_HEADER, DEPTH_HEADER]) {
      const value = request.headers.get(name);
      if (value !== null) headers[name] = value;
    }
    try {
      const answer = await fetch(`http://127.0.0.1:${peer.port}${pathname}${search}`, {
        method: request.method,
        headers,
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return new Response(await answer.arrayBuffer(), { status: answer.status, headers: passedOn(answer.headers) });
    } catch (cause) {
      throw unavailable(pid, cause);
    }
  }
}

function passedOn(headers: Headers): Record<string, string> {
  const kept = ["content-type", "x-next-cursor"].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...CORS, "cache-control": "no-store", ...Object.fromEntries(kept) };
}

function unavailable(pid: number, cause?: unknown): AsyncAgentsError {
  const message = `Only process ${pid} can do this, and its server does not answer (is ASYNCAGENTS_API_ENABLED=false there?). Try again when it does.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { pid }, cause });
}
