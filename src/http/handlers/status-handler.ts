/**
 * The type of a handler for one operation of the status API: it gets the parsed input and returns the output of the
 * table.
 */
import type { z } from "zod";
import type { StatusOperationName } from "../../protocol/addresses.ts";
import type { CallOrigin } from "../../protocol/call-origin.ts";
import type { OPERATIONS, OperationOutput } from "../../protocol/operations.ts";
import type { Caller } from "../access/guard.ts";
import type { ApiContext } from "../api-context.ts";

export interface StatusCall<Name extends StatusOperationName> {
  /** The id in the path; empty if there is none. */
  id: string;
  input: z.output<NonNullable<(typeof OPERATIONS)[Name]["input"]>>;
  origin: CallOrigin;
  caller: Caller;
  request: Request;
}

/** A handler returns a whole response only if another process made it, or if it is more than JSON. */
export type StatusHandlers<Names extends StatusOperationName> = {
  [Name in Names]: (context: ApiContext, call: StatusCall<Name>) => Promise<OperationOutput<Name> | Response>;
};
