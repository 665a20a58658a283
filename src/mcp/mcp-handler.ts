/**
 * The MCP server over Streamable HTTP, without sessions: each request is independent, so a restart of the daemon
 * loses no client. The status API's guard checks the callers before this.
 */
import { type AuthInfo, createMcpHandler, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Log } from "../process/log.ts";
import { type CallOrigin, DEPTH_HEADER, readDepth } from "../protocol/call-origin.ts";
import type { Toolset } from "../protocol/operation.ts";
import type { CallOperation } from "../protocol/operations.ts";
import { createServer, type McpOptions } from "./server.ts";
import { readToolset } from "./toolset.ts";

/** The client's directory: an absolute path, percent-encoded unless it is plain ASCII. */
const DIRECTORY_HEADER = "x-asyncagents-directory";
/** More than the longest prompt that the board accepts, in bytes. */
const MAX_BODY_BYTES = 2_000_000;

interface McpHttpOptions extends Omit<McpOptions, "directory" | "poll" | "client"> {
  log: Log;
}

/** Whose token a request has; null for the user of this machine. */
type Token = NonNullable<CallOrigin["token"]> | null;

/** Answers a request to `/mcp`. `?tools=core` offers the core toolset only. */
export function mcpHandler({
  log,
  ...options
}: McpHttpOptions): (request: Request, caller: { token: Token }) => Promise<Response> {
  const scopeOf = (request: Request | undefined, token: Token) => {
    // Every call over MCP counts as a model's, even if a person typed it into the client.
    const depth = readDepth(request?.headers.get(DEPTH_HEADER));
    const origin: CallOrigin = { door: "model", depth, ...(token && { token }) };
    const call: CallOperation = (name, input, given) => options.call(name, input, { ...given, origin });
    return {
      toolset: toolsetOf(request, options.toolset),
      directory: directoryOf(request),
      call,
      poll: call,
      client: null,
    };
  };
  const handler = createMcpHandler(
    ({ requestInfo, authInfo }) => createServer({ ...options, ...scopeOf(requestInfo, tokenIn(authInfo)) }),
    {
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: ({ message }) => log.info("An MCP request was not served.", { message }),
    },
  );
  return async (request, { token }) => {
    try {
      scopeOf(request, token);
    } catch (thrown) {
      const error = { code: ProtocolErrorCode.InvalidRequest, message: messageOf(thrown) };
      return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 });
    }
    return handler.fetch(request, { authInfo: authInfoOf(token) });
  };
}

/** The SDK passes it on unread. It never holds the secret. */
function authInfoOf(token: Token): AuthInfo {
  return { token: "", clientId: token?.name ?? "", scopes: token ? [token.role] : [], extra: { token } };
}

/** A call whose caller got lost on the way is not taken for the user's own. */
function tokenIn(authInfo: AuthInfo | undefined): Token {
  if (authInfo?.extra && "token" in authInfo.extra) return authInfo.extra.token as Token;
  throw new AsyncAgentsError("internal", "An MCP request came without its caller.");
}

function toolsetOf(request: Request | undefined, most: Toolset): Toolset {
  const given = request && new URL(request.url).searchParams.get("tools");
  const asked = readToolset(given ?? undefined);
  return most === "core" ? "core" : asked;
}

function directoryOf(request: Request | undefined): string | null {
  const given = request?.headers.get(DIRECTORY_HEADER);
  if (!given) return null;
  try {
    return decodeURIComponent(given);
  } catch (cause) {
    throw new AsyncAgentsError("invalid_input", `The header ${DIRECTORY_HEADER} is not percent-encoded.`, { cause });
  }
}
