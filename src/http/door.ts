/**
 * A door: one address on which the app is served, with a guard of its own. What all doors of a process share is in the
 * context that they get; what depends on the connection (timeouts, the caller's address) is the door's.
 */
import type { Server } from "bun";
import { messageOf } from "../model/errors.ts";
import type { Log } from "../process/log.ts";
import type { Caller, Guard } from "./access/guard.ts";
import type { ApiContext } from "./api-context.ts";
import { createApp } from "./app.ts";
import type { EventStreams } from "./events/event-streams.ts";
import type { Page } from "./page.ts";
import { replyError } from "./reply.ts";
import { wholeBody } from "./request-body.ts";

/** Reading a conversation from another process can be slow. */
const IDLE_SECONDS = 60;
/** More than the longest prompt that the board accepts, in bytes. */
const MAX_MCP_BYTES = 2_000_000;

export type DoorServer = Server<undefined>;
export type SharedContext = Omit<ApiContext, "guard" | "mcp" | "stream">;
export type HandleMcp = (request: Request, caller: Caller) => Promise<Response>;

export interface DoorOptions {
  address: string;
  /** Tried one after the other. */
  ports: readonly number[];
  context: SharedContext;
  /** Gets the server when it is bound. */
  guard(server: () => DoorServer): Guard;
  streams: EventStreams;
  page: Page;
  mcp: HandleMcp | null;
  /** The last word on every response. */
  finish?(response: Response): Response;
}

export function openDoor({ address, ports, context, streams, page, mcp, finish, ...options }: DoorOptions): DoorServer {
  /** The request with its body read. Only then is its timeout removed: clients keep MCP streams open all the time. */
  const whole = async (request: Request, caller: Caller): Promise<Request> => {
    const { url, method, headers, signal } = request;
    const body = method === "POST" ? await wholeBody(request, caller, { maxBytes: MAX_MCP_BYTES }) : null;
    server.timeout(request, 0);
    return new Request(url, { method, headers, signal, body });
  };
  const app = createApp(
    {
      ...context,
      guard: options.guard(() => server),
      mcp: mcp && (async (request, caller) => mcp(await whole(request, caller), caller)),
      stream: (opened) => streams.open(opened, server),
    },
    page,
  );
  const answer = async (request: Request) => {
    const response = await app.fetch(request);
    return finish ? finish(response) : response;
  };
  const server = bind({ address, ports, log: context.log }, answer);
  return server;
}

interface Place {
  address: string;
  ports: readonly number[];
  log: Log;
}

function bind({ address, ports, log }: Place, fetch: (request: Request) => Promise<Response>): DoorServer {
  for (const port of ports.filter((each) => each <= 65_535)) {
    try {
      return Bun.serve({
        hostname: address,
        port,
        idleTimeout: IDLE_SECONDS,
        // `request-body.ts` rejects large bodies: Bun's own response would not have our headers.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        development: false,
        // Otherwise Bun lets a second server share the port (in a Worker, and if `development` is off), and the
        // kernel distributes requests among both.
        reusePort: false,
        fetch,
        error: (thrown) => replyError(thrown, log),
      });
    } catch (thrown) {
      if (!isTaken(thrown) || port === ports.at(-1)) throw thrown;
      log.info("a port is taken; the next one is tried", { port, error: messageOf(thrown) });
    }
  }
  throw new Error("There is no port to listen on.");
}

function isTaken(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code;
  return code === "EADDRINUSE" || code === "EACCES";
}
