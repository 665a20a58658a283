/**
 * Reads a connection string: where the server is, TLS as psql understands it (`sslmode`, `sslrootcert`, `sslcert`,
 * `sslkey`), and how many connections a process uses (`pool_max`). Every connection of ours has these limits of time.
 * Errors never show the connection string: it may contain a password.
 */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { nearestOf } from "../../model/text/near-words.ts";

export interface ConnectionSettings {
  client: ClientConfig;
  /** For urgent writes. */
  urgent: ClientConfig;
  /** The most connections of one store, without the one that listens and those of urgent writes. */
  poolMax: number;
}

const POOL_MAX = 10;
/** One that writes, one that reads, and one that orders the feed. */
const SMALLEST_POOL = 3;
const LARGEST_POOL = 1_000;

const LIMITS = {
  connectionTimeoutMillis: 10_000,
  statement_timeout: 30_000,
  /** Of one wait for a lock; the write is then run again, until it has taken too long. */
  lock_timeout: 5_000,
  /** A process that froze inside a write must not keep its locks forever. */
  idle_in_transaction_session_timeout: 15_000,
  /** For a server that vanished without closing the connection. Longer than a statement may take. */
  query_timeout: 45_000,
};

/** A heartbeat is tried again long before the lease is over: its connection may be dead without anybody saying so. */
const URGENT_LIMITS = {
  connectionTimeoutMillis: 4_000,
  statement_timeout: 4_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 3_000,
  query_timeout: 5_000,
};

/** Parameters that are read here; the driver would understand them differently or not at all. */
const OWN = ["sslmode", "sslrootcert", "sslcert", "sslkey", "pool_max"] as const;

/** Parameters that the driver understands and that do not change what is said here. */
const OF_DRIVER = [
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "application_name",
  "client_encoding",
  "options",
  "connect_timeout",
  "channel_binding",
];

export function connectionSettings(connectionString: string): ConnectionSettings {
  const url = urlOf(connectionString);
  // What looks like parameters may be the rest of a password with a question mark, and the server.
  const mayBePassword = `${url.search}${url.hash}`.includes("@");
  try {
    return settingsOf(url);
  } catch (thrown) {
    throw mayBePassword ? unreadable() : thrown;
  }
}

function settingsOf(url: URL): ConnectionSettings {
  assertKnown([...url.searchParams.keys()]);
  const own = new Map(OWN.map((name) => [name, url.searchParams.get(name)]));
  for (const name of OWN) url.searchParams.delete(name);
  const ssl = tlsOf(own);
  const shared: ClientConfig = {
    connectionString: url.href,
    keepAlive: true,
    application_name: "asyncagents",
    pipeline: true,
    ...(ssl !== undefined && { ssl }),
  };
  const poolMax = poolMaxOf(own.get("pool_max") ?? null);
  return { client: { ...shared, ...LIMITS }, urgent: { ...shared, ...URGENT_LIMITS }, poolMax };
}

/** A misspelt parameter would be ignored: a server that is not checked, for example. */
function assertKnown(names: readonly string[]): void {
  const known: readonly string[] = [...OWN, ...OF_DRIVER];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = nearestOf(known, unknown);
  const hint = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean ${meant}?`;
  throw invalid(`The connection string of PostgreSQL has an unknown parameter, "${unknown}". ${hint}`);
}

function urlOf(connectionString: string): URL {
  try {
    return new URL(connectionString);
  } catch {
    // Without the cause: it would show the password.
    throw unreadable();
  }
}

function unreadable(): AsyncAgentsError {
  return invalid(
    "The connection string of PostgreSQL cannot be read. Write it as postgres://user:password@host:5432/database, with characters such as # / ? @ in the password percent-encoded (# is %23).",
  );
}

/** As psql has it: `require` encrypts without checking who the server is, unless a root certificate is given. */
function tlsOf(own: ReadonlyMap<(typeof OWN)[number], string | null>): ConnectionOptions | false | undefined {
  const mode = own.get("sslmode") ?? null;
  const root = own.get("sslrootcert") ?? null;
  const files = {
    ...pemOf("ca", "sslrootcert", root),
    ...pemOf("cert", "sslcert", own.get("sslcert") ?? null),
    ...pemOf("key", "sslkey", own.get("sslkey") ?? null),
  };
  switch (mode) {
    case null:
      return root === null ? undefined : { ...files, rejectUnauthorized: true };
    case "disable":
      return false;
    case "require":
      return root === null ? { ...files, rejectUnauthorized: false } : checkedChain(files);
    case "verify-ca":
      return checkedChain(files);
    case "verify-full":
      return { ...files, rejectUnauthorized: true };
    default:
      throw invalid(
        `sslmode is "${mode}" in the connection string of PostgreSQL. Use disable, require, verify-ca or verify-full.`,
      );
  }
}

function checkedChain(files: ConnectionOptions): ConnectionOptions {
  return { ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function pemOf(option: "ca" | "cert" | "key", name: string, file: string | null): ConnectionOptions {
  if (file === null || (option === "ca" && file === "system")) return {};
  try {
    return { [option]: readFileSync(file, "utf8") };
  } catch (thrown) {
    throw invalid(
      `${name} in the connection string of PostgreSQL cannot be read (${messageOf(thrown)}). Name a PEM file that this user may read.`,
    );
  }
}

function poolMaxOf(text: string | null): number {
  if (text === null) return POOL_MAX;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= SMALLEST_POOL && value <= LARGEST_POOL) return value;
  throw invalid(
    `pool_max in the connection string of PostgreSQL must be a whole number from ${SMALLEST_POOL} to ${LARGEST_POOL}, not "${text}".`,
  );
}

function invalid(message: string): AsyncAgentsError {
  return new AsyncAgentsError("store_unavailable", message);
}
