/**
 * Turns the table of operations into HTTP routes. A route checks the caller, parses the input with the table's
 * schema, and calls the operation's handler: here for the status API, in the daemon for the board. Knows no operation
 * by name.
 */
import { z } from "zod";
import { assertDepth } from "../board/launch-depth.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { type Address, addressOf, isStatusOperation, type StatusOperationName } from "../protocol/addresses.ts";
import { originOf } from "../protocol/call-origin.ts";
import type { Operation } from "../protocol/operation.ts";
import { type BoardOperationName, OPERATIONS, type OperationName } from "../protocol/operations.ts";
import type { ApiContext } from "./api-context.ts";
import { controlHandlers } from "./handlers/control-handlers.ts";
import { readHandlers } from "./handlers/read-handlers.ts";
import type { StatusCall, StatusHandlers } from "./handlers/status-handler.ts";
import { replyJson } from "./reply.ts";
import { readBody, readQuery } from "./request-input.ts";

export interface Route extends Address {
  operation: Operation;
  /** `id` is the one in the path; empty if there is none. */
  handle(context: ApiContext, request: Request, id: string): Promise<Response>;
}

const HANDLERS: StatusHandlers<StatusOperationName> = { ...readHandlers, ...controlHandlers };
/** The board validates its input itself, for all doors. */
const anyObject = z.looseObject({});

export const ROUTES: readonly Route[] = (Object.keys(OPERATIONS) as OperationName[]).map((name) => ({
  ...addressOf(name),
  operation: OPERATIONS[name],
  handle: async (context, request, id) => {
    admit(context, OPERATIONS[name], request);
    return isStatusOperation(name) ? perform(context, name, request, id) : operate(context, name, request);
  },
}));

function admit({ guard }: ApiContext, { access }: Operation, request: Request): void {
  if (access === "token") guard.authorize(request);
  else if (access !== "open") guard.admit(request);
}

async function perform<Name extends StatusOperationName>(
  context: ApiContext,
  name: Name,
  request: Request,
  id: string,
): Promise<Response> {
  const { startsAgent, status }: Operation & { status?: number } = OPERATIONS[name];
  const origin = originOf(request.headers);
  if (startsAgent) assertDepth(origin, context.maxDepth);
  const input = await inputOf(name, request);
  const answer = await HANDLERS[name](context, { id, input: input as StatusCall<Name>["input"], origin, request });
  return answer instanceof Response ? answer : replyJson(answer, status);
}

async function inputOf(name: StatusOperationName, request: Request): Promise<unknown> {
  const { input } = OPERATIONS[name];
  if (input === undefined) return undefined;
  return addressOf(name).sends === "query"
    ? readQuery(input, new URL(request.url).searchParams)
    : readBody(input, request);
}

/** A server without a board forwards its operations to the daemon. */
async function operate({ board, peers }: ApiContext, name: BoardOperationName, request: Request): Promise<Response> {
  const input = await readBody(anyObject, request);
  if (board) {
    const options = { signal: request.signal, origin: originOf(request.headers) };
    return replyJson(await board(name, input as never, options));
  }
  const daemon = peers.daemon();
  if (daemon !== null) return peers.forward(daemon, request, input);
  throw new AsyncAgentsError("daemon_unavailable", "The board needs the daemon. Start it with `asyncagents up`.");
}
