/**
 * The PostgreSQL driver. Every write first takes an advisory lock, so that events commit in order of their seq, and
 * NOTIFYs in its own transaction. If the connection breaks during a commit, the server is asked what became of it. Only
 * this file loads `pg`, when a store is opened. Does not create tables.
 */
import { createHash } from "node:crypto";
import { Kysely, PostgresDialect, sql } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Database } from "../database.ts";
import type { PostgresOptions } from "../open.ts";
import { openDatabase } from "../open-database.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import type { Schema } from "../schema.ts";
import { codeOf } from "../sqlite/failure.ts";
import { storablePlugin } from "../storable-plugin.ts";
import { isContention, postgresFailure } from "./failure.ts";
import { postgresListener } from "./listener.ts";

const TIMES = {
  connectionTimeoutMillis: 10_000,
  lock_timeout: 15_000,
  // A process that froze inside a write must not block all others forever.
  idle_in_transaction_session_timeout: 60_000,
};

/** How long to ask what became of a commit while the server cannot be reached, in ms. */
const COMMIT_PATIENCE = 10_000;

export async function postgresDatabase(options: PostgresOptions): Promise<Database> {
  const { connectionString, schema = "asyncagents" } = options;
  const { Pool, Client } = await loadDriver();
  const settings = { connectionString, keepAlive: true, application_name: "asyncagents", ...TIMES };
  const pool = new Pool({ ...settings, max: 5, allowExitOnIdle: true });
  // A broken connection, idle or in use, must not crash the process: its query fails, and the pool creates a new one.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), plugins: [storablePlugin] });
  const inSchema = kysely.withSchema(schema);
  const channel = `asyncagents_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
  const fail = (thrown: unknown): never => {
    throw postgresFailure(thrown);
  };
  const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`asyncagents:${schema}`}, 0))`;
  const notify = sql<{ xid: string }>`
    select pg_current_xact_id_if_assigned()::text as xid, pg_notify(${channel}, '')
    where pg_current_xact_id_if_assigned() is not null`;
  const writeOnce = async <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => {
    let done: { result: T; xid: string | null } | null = null;
    try {
      return await kysely.transaction().execute(async (transaction) => {
        await lock.execute(transaction);
        const result = await work(transaction.withSchema(schema));
        const { rows } = await notify.execute(transaction);
        done = { result, xid: rows[0]?.xid ?? null };
        return done;
      });
    } catch (thrown) {
      const finished = done as { result: T; xid: string | null } | null;
      // Only the commit is left to fail. Perhaps only its answer was lost.
      if (finished?.xid != null && (await isCommitted(kysely, finished.xid, thrown))) return finished;
      throw thrown;
    }
  };

  const database = openDatabase({
    dialect: "postgres",
    clock: () => sql`(extract(epoch from clock_timestamp()) * 1000)::double precision`,
    read: (work) => work(inSchema).catch(fail),
    async write(work) {
      const { result, xid } = await retryWhileBusy(() => writeOnce(work), { shouldRetry: isContention }).catch(fail);
      return { result, changed: xid !== null };
    },
    watch: (changed) => postgresListener(() => new Client(settings), channel, changed),
    disconnect: () => kysely.destroy(),
  });
  try {
    await retryWhileBusy(() => makeSchema(kysely, schema), { shouldRetry: madeByAnother });
  } catch (thrown) {
    await database.close();
    throw postgresFailure(thrown);
  }
  return database;
}

/**
 * What became of a transaction whose commit failed like this. If the server cannot be reached for some time, nobody
 * knows, and the failure is thrown.
 */
async function isCommitted(kysely: Kysely<Schema>, xid: string, failure: unknown): Promise<boolean> {
  const ask = async () => {
    const { rows } = await sql<{ status: string }>`select pg_xact_status(${xid}::xid8) as status`.execute(kysely);
    const status = rows[0]?.status;
    if (status === "in progress") throw failure;
    return status === "committed";
  };
  return retryWhileBusy(ask, { shouldRetry: () => true, limit: COMMIT_PATIENCE }).catch(() => {
    throw failure;
  });
}

async function makeSchema(kysely: Kysely<Schema>, schema: string): Promise<void> {
  const known = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(kysely);
  // Checked first: creating a schema needs a right that may not have been granted.
  if (known.rows.length === 0) await kysely.schema.createSchema(schema).ifNotExists().execute();
}

/** If two processes create the same schema at once, the later one gets a duplicate error and finds it on retry. */
function madeByAnother(thrown: unknown): boolean {
  return /^(23505|42P06)$/.test(codeOf(thrown));
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
