/**
 * The type of a handler for one operation of the status API: it gets the parsed input and returns the output of the
 * table.
 */
import type { z } from "zod";
import type { RemoteOutput, RemoteStatusName } from "../../board/remote-operations.ts";
import type { StatusOperationName } from "../../protocol/addresses.ts";
import type { CallOrigin } from "../../protocol/call-origin.ts";
import type { OPERATIONS, OperationOutput } from "../../protocol/operations.ts";
import type { Caller } from "../access/guard.ts";
import type { ApiContext, OperationContext } from "../api-context.ts";

/** A call, over HTTP or from another process. */
export interface StatusCall<Name extends StatusOperationName> {
  /** The id in the path; empty if there is none. */
  id: string;
  input: z.output<NonNullable<(typeof OPERATIONS)[Name]["input"]>>;
  origin: CallOrigin;
}

/** A call over HTTP. */
export interface HttpCall<Name extends StatusOperationName> extends StatusCall<Name> {
  caller: Caller;
  request: Request;
}

/** A handler returns a whole response only if it is more than JSON. */
export type StatusHandlers<Names extends StatusOperationName> = {
  [Name in Names]: (context: ApiContext, call: HttpCall<Name>) => Promise<OperationOutput<Name> | Response>;
};

/** Handlers that other processes call, too. */
export type RemoteHandlers<Names extends RemoteStatusName> = {
  [Name in Names]: (context: OperationContext, call: StatusCall<Name>) => Promise<RemoteOutput<Name>>;
};
