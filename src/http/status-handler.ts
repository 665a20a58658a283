/** What performs one operation of the status API: gets the input as the table parses it, gives what the table says. */
import type { z } from "zod";
import type { StatusOperationName } from "../protocol/addresses.ts";
import type { CallOrigin } from "../protocol/call-origin.ts";
import type { OPERATIONS, OperationOutput } from "../protocol/operations.ts";
import type { ApiContext } from "./api-context.ts";

export interface StatusCall<Name extends StatusOperationName> {
  /** The id in the path; empty where it has none. */
  id: string;
  input: z.output<NonNullable<(typeof OPERATIONS)[Name]["input"]>>;
  origin: CallOrigin;
  request: Request;
}

/** A handler answers with a whole response only where another process made it, or where it is more than JSON. */
export type StatusHandlers<Names extends StatusOperationName> = {
  [Name in Names]: (context: ApiContext, call: StatusCall<Name>) => Promise<OperationOutput<Name> | Response>;
};
