/**
 * The PostgreSQL driver. Writes run at the same time on a pool of connections; what fails for contention or a lost
 * connection and was not committed is run again, for a while. Commits are announced to all processes, coalesced. Only
 * this file and `summary.ts` load `pg`, when a store is opened. Does not create tables.
 */
import { createHash } from "node:crypto";
import type { ClientBase, Pool } from "pg";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Database } from "../database.ts";
import type { PostgresOptions } from "../open.ts";
import { openDatabase } from "../open-database.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import { codeOf } from "../sqlite/failure.ts";
import { Announcer } from "./announcer.ts";
import { clientKyselys } from "./client-kysely.ts";
import { connectionSettings } from "./connection-settings.ts";
import { isContention, isDuplicate, isLostConnection, postgresFailure } from "./failure.ts";
import { FeedOrder } from "./feed-order.ts";
import { gatherWrites } from "./gather-writes.ts";
import { postgresListener } from "./listener.ts";
import { prepareTokens, Transactions, UnknownOutcome } from "./transaction.ts";

/** How long to try again after a lost connection, in ms: a server restarts in that time. */
const RECONNECTING = 5_000;
const MOST_DUPLICATES = 3;
/** Connections that writes leave to others: for the order of the feed, and for reads. */
const NOT_FOR_WRITES = 2;
/** One that writes, and one that asks what became of a write whose connection broke. */
const URGENT_CONNECTIONS = 2;
/** Longer than the time between two heartbeats: a server that is full must not refuse the next one. */
const KEPT_MS = 60_000;

export async function postgresDatabase(options: PostgresOptions): Promise<Database> {
  const { connectionString, schema = "asyncagents" } = options;
  const { client: settings, urgent, poolMax } = connectionSettings(connectionString);
  const { Pool, Client, escapeIdentifier } = await loadDriver();
  const pool = new Pool({ ...settings, max: poolMax, allowExitOnIdle: true });
  const urgentPool = new Pool({
    ...urgent,
    max: URGENT_CONNECTIONS,
    idleTimeoutMillis: KEPT_MS,
    allowExitOnIdle: true,
  });
  for (const each of [pool, urgentPool]) {
    // A broken connection, idle or in use, must not crash the process: its query fails, and the pool creates a new one.
    each.on("error", () => {});
    each.on("connect", (client) => {
      client.on("error", () => {});
      gatherWrites(client);
    });
  }
  const quoted = escapeIdentifier(schema);
  const channel = `asyncagents_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
  const kyselyOf = clientKyselys(schema);
  const feedOrder = new FeedOrder(pool, quoted, channel);
  const announcer = new Announcer(() => feedOrder.announce());
  const order = async (client: ClientBase) => {
    const notifies = announcer.isQuiet;
    return (await feedOrder.placeBeforeCommit(client, notifies)) && notifies;
  };
  const transactions = new Transactions(pool, kyselyOf, schema, order);
  const urgentTransactions = new Transactions(urgentPool, kyselyOf, schema, order);

  const database = openDatabase({
    dialect: "postgres",
    now: () => Date.now(),
    mostWrites: poolMax - NOT_FOR_WRITES,
    hasUrgentWrites: true,
    read: (work) =>
      persistently(async () => {
        const client = await pool.connect();
        // What failed may have left anything behind, for example a transaction: nobody else gets that connection.
        let isBroken = true;
        try {
          const result = await work((await kyselyOf(client)).kysely);
          isBroken = false;
          return result;
        } finally {
          client.release(isBroken);
        }
      }),
    async write(work, writeOptions) {
      const own = writeOptions.isUrgent ? urgentTransactions : transactions;
      const written = await persistently(() => own.write(work, writeOptions));
      if (written.isAnnounced) announcer.announced();
      else if (written.changed) announcer.committed();
      return written;
    },
    orderEvents: () => persistently(() => feedOrder.catchUp()),
    watch: (changed) => postgresListener(() => new Client(settings), channel, changed),
    async disconnect() {
      await announcer.close();
      await Promise.all([pool.end(), urgentPool.end()]);
    },
  });
  try {
    await retryWhileBusy(() => makeSchema(pool, schema, quoted), { shouldRetry: madeByAnother });
  } catch (thrown) {
    await database.close();
    throw postgresFailure(thrown);
  }
  return database;
}

/** Tries again what was not committed, while that may help. */
async function persistently<T>(attempt: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let duplicates = 0;
  const shouldRetry = (thrown: unknown) =>
    isContention(thrown) ||
    (isDuplicate(thrown) && duplicates++ < MOST_DUPLICATES) ||
    (isLostConnection(thrown) && performance.now() - started < RECONNECTING);
  try {
    return await retryWhileBusy(attempt, { shouldRetry });
  } catch (thrown) {
    throw postgresFailure(thrown instanceof UnknownOutcome ? thrown.cause : thrown);
  }
}

async function makeSchema(pool: Pool, schema: string, quoted: string): Promise<void> {
  const known = await pool.query("select 1 from pg_namespace where nspname = $1", [schema]);
  // Checked first: creating a schema needs a right that may not have been granted.
  if (known.rows.length === 0) await pool.query(`create schema if not exists ${quoted}`);
  await prepareTokens(pool, schema);
}

/** If two processes create the same at once, the later one gets one of several errors, and finds it on retry. */
function madeByAnother(thrown: unknown): boolean {
  return /^(23505|42P06|42P07|42710)$/.test(codeOf(thrown));
}

async function loadDriver() {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new AsyncAgentsError("store_unavailable", "A PostgreSQL store needs the package pg: run `npm install pg`.", {
      cause,
    });
  }
}
