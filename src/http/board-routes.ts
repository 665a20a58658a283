/**
 * The board's operations over HTTP: `POST /v1/board/<operation>`, one route for each entry of the table, all with the token.
 * A server without a board passes them on to the daemon. Inputs are checked by the board, which knows what is allowed.
 */
import { z } from "zod";
import { AsyncAgentsError, type ErrorCode } from "../model/errors.ts";
import { originOf } from "../protocol/call-origin.ts";
import { OPERATIONS, type OperationName } from "../protocol/operations.ts";
import { readBody } from "./parameters.ts";
import { replyJson } from "./reply.ts";
import type { ApiContext, Route } from "./routes.ts";

const FAILS: readonly ErrorCode[] = [
  "invalid_input",
  "missing_required",
  "too_large",
  "not_found",
  "daemon_unavailable",
  "not_allowed",
  "approval_needed",
];
const anyObject = z.looseObject({});

export const boardRoutes: Route[] = (Object.keys(OPERATIONS) as OperationName[]).map((name) => ({
  method: "POST",
  path: `/v1/board/${name}`,
  summary: OPERATIONS[name].title,
  body: OPERATIONS[name].input,
  answer: OPERATIONS[name].output,
  access: "token",
  fails: FAILS,
  handle: (context, { request }) => operate(context, name, request),
}));

async function operate({ board, peers }: ApiContext, name: OperationName, request: Request): Promise<Response> {
  const input = await readBody(anyObject, request);
  if (board)
    return replyJson(await board(name, input as never, { signal: request.signal, origin: originOf(request.headers) }));
  const daemon = peers.daemon();
  if (daemon !== null) return peers.forward(daemon, request, input);
  throw new AsyncAgentsError("daemon_unavailable", "The board needs the daemon. Start it with `asyncagents up`.");
}
