/**
 * Interprets error codes of PostgreSQL and the network: contention (retry), or unavailable with what to do. Other
 * errors pass through. Never shows the connection string: it may contain a password.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { codeOf } from "../sqlite/failure.ts";

/** A serialisation failure or a deadlock: the transaction was rolled back and can be retried. */
export function isContention(thrown: unknown): boolean {
  return /^(40001|40P01)$/.test(codeOf(thrown));
}

export function postgresFailure(thrown: unknown): unknown {
  if (AsyncAgentsError.isInstance(thrown)) return thrown;
  const advice = adviceFor(codeOf(thrown), messageOf(thrown));
  if (advice === null) return thrown;
  const message = `The task store on PostgreSQL cannot be used (${messageOf(thrown)}). ${advice}`;
  return new AsyncAgentsError("store_unavailable", message, { cause: thrown });
}

function adviceFor(code: string, message: string): string | null {
  if (/^(28|3D|42501)/.test(code)) return "Check the user, password, database and rights in the connection string.";
  if (/^(53|58|25006)/.test(code)) return "Check the server's disk space, connection limit and that it accepts writes.";
  if (/^(55P03|25P03|40)/.test(code))
    return "Another process has locked the store for too long: look for one that hangs.";
  if (/^(08|57)/.test(code) || /^E[A-Z_]+$/.test(code) || /terminated|timeout|not queryable/i.test(message)) {
    return "Check that the server runs and can be reached, then try again.";
  }
  return null;
}
