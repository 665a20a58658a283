/**
 * Builds responses: JSON with the CORS headers that every response has, and errors in one format without stack
 * traces. Does not know the routes.
 */

import { AsyncAgentsError, ERROR_CODES, type ErrorCode, messageOf } from "../model/errors.ts";
import type { Log } from "../process/log.ts";

/** The documented headers, on every response. The guard decides who may read what. */
export const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, OPTIONS",
  "access-control-allow-headers": "Content-Type",
} as const;

const JSON_HEADERS = { ...CORS, "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Sent before the body was read: the connection cannot be reused, and would delay the server's shutdown. */
const UNREAD: ReadonlySet<ErrorCode> = new Set([
  "too_large",
  "request_timeout",
  "too_many_requests",
  "not_authorized",
  "not_allowed",
]);

export function replyJson(body: unknown, status = 200, headers?: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS,
  });
}

/** The error for the caller. Unexpected errors are logged in full, and the caller is only told that there was one. */
export function replyError(thrown: unknown, log: Log, headers?: Record<string, string>): Response {
  if (!AsyncAgentsError.isInstance(thrown)) {
    log.error("a request failed", { error: thrown instanceof Error ? (thrown.stack ?? "") : messageOf(thrown) });
    const message = "Something went wrong in the server. asyncagents.log in its data folder says what.";
    return replyJson({ error: { code: "internal", message } }, ERROR_CODES.internal, headers);
  }
  const { code, message, details } = thrown;
  const given = Object.keys(details).length === 0 ? {} : { details };
  const ending: Record<string, string> = UNREAD.has(code) ? { connection: "close" } : {};
  return replyJson({ error: { code, message, ...given } }, ERROR_CODES[code], { ...headers, ...ending });
}
