/**
 * All operations of the board as one table: the MCP tools, the HTTP operations, the command line and the dashboard bind to it,
 * so that none of them can disagree. The board does them. No behaviour.
 */
import type { z } from "zod";
import type { CallOrigin } from "./call-origin.ts";
import { seedOperations } from "./core-operations.ts";
import { furtherOperations } from "./extended-operations.ts";
import { peopleOperations } from "./people-operations.ts";

export const OPERATIONS = { ...seedOperations, ...furtherOperations, ...peopleOperations };

export type OperationName = keyof typeof OPERATIONS;
/** What a caller gives. */
export type OperationInput<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]["input"]>;
export type OperationOutput<Name extends OperationName> = z.infer<(typeof OPERATIONS)[Name]["output"]>;

/** Does one operation, here or in another process; rejects with AsyncAgentsError. */
export type CallOperation = <Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  options?: { signal?: AbortSignal | undefined; origin?: CallOrigin },
) => Promise<OperationOutput<Name>>;

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
