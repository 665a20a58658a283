/** Rejects calls of an operation with a token whose role does not include it. The roles are in the table. No state. */
import { AsyncAgentsError } from "../model/errors.ts";
import { type CallOrigin, holdsRole } from "../protocol/call-origin.ts";
import { OPERATIONS, type OperationName } from "../protocol/operations.ts";

export function assertRole(name: OperationName, origin: CallOrigin): void {
  const { role } = OPERATIONS[name];
  if (holdsRole(origin, role)) return;
  const held = `Your token "${origin.token?.name}" has the role ${origin.token?.role}`;
  const message =
    role === null
      ? `${held}, and ${name} is for programs on the server's own machine only.`
      : `${held}, and ${name} needs the role ${role}. Ask whoever runs the server for such a token.`;
  throw new AsyncAgentsError("not_allowed", message, { details: { role: origin.token?.role ?? null, needed: role } });
}
