/**
 * Performs an operation for another process, which asked for it through the store: the same handlers as over HTTP, with
 * the same schemas and the caller's origin. Who may write to the store is the same user. Never passes a call on.
 */
import { assertDepth } from "../../board/launch-depth.ts";
import { NO_OTHERS, type RemoteStatusName, remoteInputSchema } from "../../board/remote-operations.ts";
import { assertRole } from "../../board/roles.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type CallOrigin, isPerson } from "../../protocol/call-origin.ts";
import type { Operation } from "../../protocol/operation.ts";
import { isBoardOperation, OPERATIONS } from "../../protocol/operations.ts";
import type { OperationContext } from "../api-context.ts";
import { checkedInput } from "../request-input.ts";
import { controlHandlers } from "./control-handlers.ts";
import { readRemoteLogs } from "./logs.ts";
import type { RemoteHandlers, StatusCall } from "./status-handler.ts";

const HANDLERS: RemoteHandlers<RemoteStatusName> = { ...controlHandlers, logs: readRemoteLogs };

export function callPerformance(
  given: Omit<OperationContext, "remote">,
): (operation: string, input: unknown) => Promise<unknown> {
  const assertWorkplace = given.assertWorkplace ?? checkedByAsker;
  const context: OperationContext = { ...given, assertWorkplace, remote: NO_OTHERS };
  return async (operation, sent) => {
    const { id, input, origin } = checkedInput(remoteInputSchema, sent);
    if (isBoardOperation(operation)) {
      if (context.board !== null) return context.board(operation, input as never, { origin });
    } else if (isRemoteStatus(operation)) {
      assertRole(operation, origin);
      const { startsAgent, input: schema }: Operation = OPERATIONS[operation];
      if (startsAgent) assertDepth(origin, context.maxDepth);
      const call = { id, origin, input: schema && checkedInput(schema, input) };
      return HANDLERS[operation](context, call as StatusCall<never>);
    }
    const message = `This process does not perform ${operation.slice(0, 60)} for others.`;
    throw new AsyncAgentsError("no_such_path", message);
  };
}

/** Holders of tokens call the daemon, which has checked the place before it asks a process without a board. */
async function checkedByAsker(_place: unknown, _operation: string, origin: CallOrigin): Promise<void> {
  if (isPerson(origin)) return;
  throw new AsyncAgentsError("not_allowed", "Only people can do this here. Agents ask the daemon.");
}

function isRemoteStatus(operation: string): operation is RemoteStatusName {
  return Object.hasOwn(HANDLERS, operation);
}
