/**
 * Interprets error codes of PostgreSQL, TLS and the network: contention and lost connections (retry), or unavailable
 * with what to do. Other errors pass through. Never shows the connection string: it may contain a password.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { codeOf } from "../sqlite/failure.ts";

/** A serialisation failure, a deadlock or a lock that was not free: rolled back, and may work the next time. */
export function isContention(thrown: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(codeOf(thrown));
}

/** Somebody else was faster to insert the same row: run again, the write finds it. */
export function isDuplicate(thrown: unknown): boolean {
  return /^(23505|23P01)$/.test(codeOf(thrown));
}

/** The connection broke, or the server restarts. */
export function isLostConnection(thrown: unknown): boolean {
  if (AsyncAgentsError.isInstance(thrown)) return false;
  const code = codeOf(thrown);
  return (
    /^(08\w{3}|57P0[1-5]|25P03)$/.test(code) ||
    /^(ECONNRESET|ECONNREFUSED|EPIPE|ENOENT)$/.test(code) ||
    /connection terminated|connection error and is not queryable|connection ended/i.test(messageOf(thrown))
  );
}

export function postgresFailure(thrown: unknown): unknown {
  if (AsyncAgentsError.isInstance(thrown)) return thrown;
  if (/after calling end on the pool/.test(messageOf(thrown))) {
    return new AsyncAgentsError("store_unavailable", "The task store was closed. Open it again.");
  }
  const advice = adviceFor(codeOf(thrown), messageOf(thrown));
  if (advice === null) return thrown;
  const message = `The task store on PostgreSQL cannot be used (${messageOf(thrown)}). ${advice}`;
  return new AsyncAgentsError("store_unavailable", message, { cause: thrown });
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|ERR_TLS|altname/i;

function adviceFor(code: string, message: string): string | null {
  if (/does not support SSL/i.test(message)) {
    return "The server has no TLS: set sslmode=disable in the connection string if the network between is trusted.";
  }
  if (/^28/.test(code) && /no encryption|SSL off/i.test(message)) {
    return "The server demands TLS: add sslmode=require, or better sslmode=verify-full, to the connection string.";
  }
  if (CERTIFICATE.test(code) || /certificate/i.test(message)) {
    return "The server's certificate is not trusted: name its root certificate with sslrootcert=FILE in the connection string, and connect by the name that it is issued for.";
  }
  if (/^3D/.test(code)) {
    return "Create the database (createdb NAME), or check the database in the connection string.";
  }
  if (/^28/.test(code)) return "Check the user and the password in the connection string.";
  if (code === "42501") {
    return "Its user needs more rights: those to create schemas in the database (grant create on database NAME to USER), and to use everything in the schemas that begin with asyncagents.";
  }
  if (/^(53|58|25006)/.test(code)) return "Check the server's disk space, connection limit and that it accepts writes.";
  if (/^(55P03|25P03|40)/.test(code)) {
    return "Another process has locked the store for too long: look for one that hangs.";
  }
  if (code === "57014") return "The query took too long: check the load of the server, then try again.";
  if (/^(ENOTFOUND|EAI_)/.test(code)) return "Check the host name in the connection string.";
  if (/^(08|57)/.test(code) || /^E[A-Z_]+$/.test(code) || /terminated|timeout|not queryable/i.test(message)) {
    return "Check that the server runs and can be reached, then try again.";
  }
  return null;
}
