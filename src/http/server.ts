/**
 * The status API's server. Binds to this machine only, on the wanted port, one of the next ones, or any; announces
 * itself; and stops without cutting off responses in progress. One per process; composition roots start it.
 */
import type { Server } from "bun";
import manifest from "../../package.json" with { type: "json" };
import type { Desk } from "../engine/desk.ts";
import type { Overview } from "../engine/watching/overview.ts";
import { troublesIn } from "../engine/watching/troubles.ts";
import { messageOf } from "../model/errors.ts";
import { settlesWithin } from "../process/deadline.ts";
import type { Log } from "../process/log.ts";
import type { CallOperation } from "../protocol/operations.ts";
import { Guard } from "./access/guard.ts";
import { unknownUser, userOfPeer } from "./access/peer-user.ts";
import { folderToken } from "./access/token-file.ts";
import type { ApiContext } from "./api-context.ts";
import { createApp } from "./app.ts";
import { announce, livingServers } from "./discovery.ts";
import { EventStreams } from "./events/event-streams.ts";
import { Page } from "./page.ts";
import { Peers } from "./peers.ts";
import { replyError } from "./reply.ts";
import { wholeBody } from "./request-body.ts";

const ADDRESS = "127.0.0.1";
const PORTS = 10;
/** How long responses in progress may take when the server stops. */
const LAST_ANSWERS_MS = 2000;
/** Reading a conversation from another process can be slow. */
const IDLE_SECONDS = 60;
/** More than the longest prompt that the board accepts, in bytes. */
const MAX_MCP_BYTES = 2_000_000;

export interface ApiServerOptions {
  overview: Overview;
  desk: Desk;
  /** The data folder, where the server announces itself. */
  directory: string;
  /** The PostgreSQL database that holds the tasks, as shown to people; SQLite in the data folder when absent. */
  postgres?: string | null;
  log: Log;
  /** The first port to try; 0 for any. */
  port: number;
  origins: readonly string[];
  heartbeatMs?: number;
  /** Only the daemon has these: the board's operations, and the MCP server. */
  daemon?: {
    board: CallOperation;
    mcp(request: Request): Promise<Response>;
    maxDepth?: number;
    assertDirectory?: NonNullable<ApiContext["assertDirectory"]>;
  };
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  /** Withdraws the announcement at once, for a process that is about to exit. */
  withdraw(): void;
  stop(): Promise<void>;
}

export function startApiServer(options: ApiServerOptions): ApiServer {
  const { overview, desk, directory, postgres = null, log, heartbeatMs, daemon } = options;
  const streams = new EventStreams({ overview, log, heartbeatMs });
  const token = folderToken(directory);
  const startedAt = Date.now();
  /** The request with its body read. Only then is its timeout removed: clients keep MCP streams open all the time. */
  const whole = async (request: Request): Promise<Request> => {
    const { url, method, headers, signal } = request;
    const body = method === "POST" ? await wholeBody(request, MAX_MCP_BYTES) : null;
    server.timeout(request, 0);
    return new Request(url, { method, headers, signal, body });
  };
  const isOwnUser = (request: Request) => isOfOwnUser(server, request);
  const app = createApp(
    {
      overview,
      desk,
      peers: new Peers(() => livingServers(directory)),
      guard: new Guard({ token, origins: options.origins, isOwnUser }),
      log,
      token,
      startedAt,
      version: manifest.version,
      now: Date.now,
      board: daemon?.board ?? null,
      maxDepth: daemon?.maxDepth,
      assertDirectory: daemon?.assertDirectory ?? null,
      mcp: daemon ? async (request) => daemon.mcp(await whole(request)) : null,
      troubles: () => (postgres === null ? troublesIn(directory) : []),
      stream: (request) => streams.open(request),
    },
    new Page(),
  );
  const server = bind(options.port, (request) => app.fetch(request), log);
  streams.attach(server);
  const port = server.port ?? 0;
  const url = `http://${ADDRESS}:${port}`;
  const kind = daemon ? ("daemon" as const) : ("plugin" as const);
  const { version } = manifest;
  const record = { port, url, token, version, startedAt: new Date(startedAt).toISOString(), kind, postgres };
  const { withdraw } = announceOrStop(directory, record, server);
  return {
    url,
    port,
    withdraw,
    async stop() {
      withdraw();
      streams.close();
      // Without force, stopping waits for responses in progress; a stuck reader must not block it forever.
      await settlesWithin(server.stop(), { timeout: LAST_ANSWERS_MS });
      await server.stop(true);
    },
  };
}

/** Stops the server if it cannot be announced, since nobody could find it. */
function announceOrStop(directory: string, record: Parameters<typeof announce>[1], server: Server<unknown>) {
  try {
    return announce(directory, record);
  } catch (thrown) {
    void server.stop(true);
    throw thrown;
  }
}

/**
 * True if the caller is certainly the user of this process. The connection must be open before and after the kernel's
 * table is read: only then can nobody else have used its port in between.
 */
function isOfOwnUser(server: Server<unknown>, request: Request): boolean {
  const self = process.geteuid?.();
  if (self === undefined || self === unknownUser()) return false;
  const before = server.requestIP(request);
  if (before === null) return false;
  const user = userOfPeer(before, { address: ADDRESS, port: server.port ?? 0 });
  const after = server.requestIP(request);
  return user === self && after?.port === before.port && after.address === before.address;
}

function bind(first: number, fetch: (request: Request) => Response | Promise<Response>, log: Log): Server<undefined> {
  const ports = first === 0 ? [0] : [...Array.from({ length: PORTS }, (_, index) => first + index), 0];
  for (const port of ports.filter((each) => each <= 65_535)) {
    try {
      return Bun.serve({
        hostname: ADDRESS,
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
      if (!isTaken(thrown) || port === 0) throw thrown;
      log.info("a port is taken; the next one is tried", { port, error: messageOf(thrown) });
    }
  }
  throw new Error("There is no port to listen on.");
}

function isTaken(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code;
  return code === "EADDRINUSE" || code === "EACCES";
}
