/**
 * Turns the table of operations into HTTP routes. A route checks the caller, parses the input with the table's
 * schema, and calls the operation's handler: here for the status API, in the daemon for the board. Knows no operation
 * by name.
 */
import { z } from "zod";
import { assertDepth } from "../board/launch-depth.ts";
import { assertRole } from "../board/roles.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { type Address, addressOf, isStatusOperation, type StatusOperationName } from "../protocol/addresses.ts";
import { type CallOrigin, callerName, originOf } from "../protocol/call-origin.ts";
import type { Operation } from "../protocol/operation.ts";
import { type BoardOperationName, OPERATIONS, type OperationName } from "../protocol/operations.ts";
import type { Caller } from "./access/guard.ts";
import type { ApiContext } from "./api-context.ts";
import { budgetHandlers } from "./handlers/budget-handlers.ts";
import {
  controlHandlers,
  editHandlers,
  ownHandlers,
  receiptHandlers,
  steeringHandlers,
} from "./handlers/control-handlers.ts";
import { notificationHandlers } from "./handlers/notification-handlers.ts";
import { readHandlers } from "./handlers/read-handlers.ts";
import type { HttpCall, StatusHandlers } from "./handlers/status-handler.ts";
import { replyJson } from "./reply.ts";
import { readBody, readQuery } from "./request-input.ts";

export interface Route extends Address {
  operation: Operation;
  /** `id` is the one in the path; empty if there is none. */
  handle(context: ApiContext, request: Request, id: string): Promise<Response>;
}

const HANDLERS: StatusHandlers<StatusOperationName> = {
  ...readHandlers,
  ...ownHandlers,
  ...receiptHandlers,
  ...controlHandlers,
  ...steeringHandlers,
  ...editHandlers,
  ...budgetHandlers,
  ...notificationHandlers,
};
/** The board validates its input itself, for all doors. */
const anyObject = z.looseObject({});

export const ROUTES: readonly Route[] = (Object.keys(OPERATIONS) as OperationName[]).map((name) => ({
  ...addressOf(name),
  operation: OPERATIONS[name],
  handle: async (context, request, id) => {
    const caller = await admit(context, OPERATIONS[name], request);
    const call = { id, request, caller, origin: originOfCaller(request, caller) };
    assertRole(name, call.origin);
    return isStatusOperation(name) ? perform(context, name, call) : operate(context, name, call);
  },
}));

type RoutedCall = Omit<HttpCall<StatusOperationName>, "input">;

async function admit({ guard }: ApiContext, { access }: Operation, request: Request): Promise<Caller> {
  if (access === "token") return guard.authorize(request);
  return access === "open" ? guard.admitAnyone(request) : guard.admit(request);
}

/** Headers say through which door a call came; whose token it has, only the guard says. */
export function originOfCaller(request: Request, { token, isTokenless }: Caller): CallOrigin {
  return { ...originOf(request.headers), ...(token && { token }), ...(isTokenless && { isTokenless }) };
}

async function perform<Name extends StatusOperationName>(
  context: ApiContext,
  name: Name,
  call: RoutedCall,
): Promise<Response> {
  const { startsAgent, stopsAgent, isReceipt, status }: Operation & { status?: number } = OPERATIONS[name];
  const { id, origin } = call;
  if (startsAgent) assertDepth(origin, context.maxDepth);
  const input = await inputOf(name, call);
  const act = () => HANDLERS[name](context, { ...call, input: input as HttpCall<Name>["input"] });
  const isChange = addressOf(name).method === "POST" && !isReceipt;
  const recorded = { by: callerName(origin), operation: name, input: { id }, stopsAgent };
  const answer = isChange ? await context.audit.record(recorded, act) : await act();
  return answer instanceof Response ? answer : replyJson(answer, status);
}

async function inputOf(name: StatusOperationName, call: RoutedCall): Promise<unknown> {
  const { input } = OPERATIONS[name];
  if (input === undefined) return undefined;
  return addressOf(name).sends === "query"
    ? readQuery(input, new URL(call.request.url).searchParams)
    : readBody(input, call);
}

/** A server without a board asks the daemon. */
async function operate({ board, remote }: ApiContext, name: BoardOperationName, call: RoutedCall): Promise<Response> {
  const { request, origin } = call;
  const input = await readBody(anyObject, call);
  if (board) {
    return replyJson(await board(name, input as never, { signal: request.signal, origin }));
  }
  const daemon = await remote.daemon();
  if (daemon !== null) return replyJson(await remote.call(daemon, name, { id: "", input, origin }));
  throw new AsyncAgentsError("daemon_unavailable", "The board needs the daemon. Start it with `asyncagents up`.");
}
