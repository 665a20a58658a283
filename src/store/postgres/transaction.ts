/**
 * One write transaction on one connection. It begins together with its first queries. If the connection breaks during
 * the commit, the server is asked what became of it; if it cannot say, the outcome stays open, and no later write of
 * this store begins before it is known. What became of it is decided by a token that the transaction itself has stored:
 * after a crash or a failover, the server may give its number to another one. Does not retry.
 */

import type { Kysely } from "kysely";
import type { Pool, PoolClient } from "pg";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { WriteOptions } from "../database.ts";
import { retryWhileBusy } from "../retry-while-busy.ts";
import type { Schema } from "../schema.ts";
import { codeOf } from "../sqlite/failure.ts";
import type { ClientKysely } from "./client-kysely.ts";
import { isLostConnection } from "./failure.ts";

/** How long to ask what became of a commit while the server cannot be reached, in ms. */
const COMMIT_PATIENCE = 10_000;
const INVALID_PARAMETER = "22023";
/** The longest time of a timer, in ms: the driver takes 0 for its usual limit. */
const NO_LIMIT = 2 ** 31 - 1;

type Work<T> = (kysely: Kysely<Schema>) => Promise<T>;

export interface Written<T> {
  result: T;
  changed: boolean;
  /** Its events have their place in the feed, and listeners were woken: nothing has to follow. */
  isAnnounced: boolean;
}

/** What shows that a transaction was committed: the number of a write on a connection. */
interface Token {
  xid: string;
  /** Of the connection; no other one ever has it. */
  slot: string;
  number: number;
}

/** Done together with the commit of a write that added events; resolves to whether it is announced by that. */
type BeforeCommit = (client: PoolClient) => Promise<boolean>;

/** The outcome of a commit that nobody could find out; the cause says why. */
export class UnknownOutcome {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

export class Transactions {
  readonly #pool: Pool;
  readonly #kyselyOf: (client: PoolClient) => Promise<ClientKysely>;
  /** Shared by all writes; a migration has it alone. */
  readonly #schemaLock: string;
  readonly #beforeCommit: BeforeCommit;
  readonly #table: string;
  readonly #tokens = new WeakMap<PoolClient, Omit<Token, "xid">>();
  /** Transactions whose commit was sent, but not answered. */
  readonly #open = new Set<Token>();

  /** The table of `tokensTable` exists in the schema. */
  constructor(
    pool: Pool,
    kyselyOf: (client: PoolClient) => Promise<ClientKysely>,
    schema: string,
    beforeCommit: BeforeCommit,
  ) {
    this.#pool = pool;
    this.#kyselyOf = kyselyOf;
    this.#schemaLock = `asyncagents:${schema}`;
    this.#beforeCommit = beforeCommit;
    this.#table = tokensTable(schema);
  }

  async write<T>(work: Work<T>, options: WriteOptions): Promise<Written<T>> {
    for (const token of [...this.#open]) await this.#isCommitted(token);
    const client = await this.#pool.connect();
    let isBroken = true;
    try {
      const bound = await this.#kyselyOf(client);
      const { token, result } = await this.#prepare(client, bound, work, options);
      // Sent together with the commit: what it locks is not kept from others while an answer is on its way.
      const ordering = bound.hasEvents && !options.isAlone ? this.#beforeCommit(client) : Promise.resolve(false);
      const committing = commit(client);
      const [ordered] = await Promise.allSettled([ordering, committing]);
      if (ordered.status === "rejected" && isAnswer(ordered.reason)) throw ordered.reason;
      const isAnnounced = ordered.status === "fulfilled" && ordered.value;
      try {
        await committing;
      } catch (thrown) {
        this.#open.add(token);
        // Perhaps only the answer was lost.
        const isCommitted = await this.#isCommitted(token).catch(() => {
          throw new UnknownOutcome(thrown);
        });
        if (!isCommitted) throw thrown;
        return { result, changed: bound.hasChanged, isAnnounced: false };
      }
      isBroken = false;
      return { result, changed: bound.hasChanged, isAnnounced };
    } catch (thrown) {
      isBroken = isBroken && !(await isRolledBack(client));
      throw thrown;
    } finally {
      client.release(isBroken);
    }
  }

  /** Runs the work up to the commit. */
  async #prepare<T>(client: PoolClient, bound: ClientKysely, work: Work<T>, { isAlone = false }: WriteOptions) {
    bound.hasChanged = false;
    bound.hasEvents = false;
    bound.queryTimeout = isAlone ? NO_LIMIT : null;
    const begin = isAlone ? "begin; set local statement_timeout = 0; set local lock_timeout = 0" : "begin";
    const lock = isAlone ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared";
    const { slot, number } = this.#nextToken(client);
    const stored = `insert into ${this.#table} (slot, number) values ($2, $3) on conflict (slot) do update set number = excluded.number, at = now()`;
    const first = [
      client.query(begin),
      client.query({
        name: `asyncagents_${lock}`,
        text: `with token as (${stored}) select pg_current_xact_id()::text as xid, ${lock}(hashtextextended($1, 0))`,
        values: [this.#schemaLock, slot, number],
        ...(isAlone && { query_timeout: NO_LIMIT }),
      }),
    ] as const;
    // Sent together with these two. If one of these failed, that is the reason for what came after it.
    const [begun, locked, done] = await Promise.allSettled([...first, work(bound.kysely)]);
    // The next one to use this connection may be a read.
    bound.queryTimeout = null;
    for (const each of [begun, locked, done]) if (each.status === "rejected") throw each.reason;
    const { rows } = (locked as PromiseFulfilledResult<{ rows: { xid: string }[] }>).value;
    const token = { xid: String(rows[0]?.xid), slot, number };
    return { token, result: (done as PromiseFulfilledResult<T>).value };
  }

  #nextToken(client: PoolClient): Omit<Token, "xid"> {
    const { slot, number } = this.#tokens.get(client) ?? { slot: crypto.randomUUID(), number: 0 };
    const next = { slot, number: number + 1 };
    this.#tokens.set(client, next);
    return next;
  }

  /** Rejects if the transaction is not over, or if the server cannot be asked. */
  async #isCommitted(token: Token): Promise<boolean> {
    const ask = async () => {
      if (!(await this.#isUnderWay(token))) return this.#isStored(token);
      const message = "An earlier write to the task store on PostgreSQL is still under way. Try again.";
      throw new AsyncAgentsError("store_unavailable", message);
    };
    const isCommitted = await retryWhileBusy(ask, { shouldRetry: () => true, limit: COMMIT_PATIENCE });
    this.#open.delete(token);
    return isCommitted;
  }

  /** Or another one is that has its number by now: that one ends, too. */
  async #isUnderWay({ xid }: Token): Promise<boolean> {
    try {
      const { rows } = await this.#pool.query("select pg_xact_status($1::xid8) as status", [xid]);
      return rows[0]?.status === "in progress";
    } catch (thrown) {
      // It is in the future: another server has taken over, and did not get that transaction.
      if (codeOf(thrown) === INVALID_PARAMETER) return false;
      throw thrown;
    }
  }

  /** Its connection is broken, so no later write has replaced it. */
  async #isStored({ slot, number }: Token): Promise<boolean> {
    const { rows } = await this.#pool.query(`select from ${this.#table} where slot = $1 and number = $2`, [
      slot,
      number,
    ]);
    return rows.length > 0;
  }
}

function tokensTable(schema: string): string {
  return `"${schema.replaceAll('"', '""')}".write_tokens`;
}

/** Rights to create it are not needed where it exists. Those of connections that were closed long ago are removed. */
export async function prepareTokens(pool: Pool, schema: string): Promise<void> {
  const table = tokensTable(schema);
  const { rows } = await pool.query("select to_regclass($1) is not null as known", [table]);
  if (rows[0]?.known !== true) {
    const columns = "slot uuid primary key, number bigint not null, at timestamptz not null default now()";
    await pool.query(`create table if not exists ${table} (${columns}) with (fillfactor = 50)`);
  }
  await pool.query(`delete from ${table} where at < now() - interval '1 day'`);
}

/** Whether the server said it. Then the transaction failed, and its commit with it. */
function isAnswer(thrown: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(thrown)) && !isLostConnection(thrown);
}

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query("commit");
  if (command === "COMMIT") return;
  throw new AsyncAgentsError("internal", `PostgreSQL answered a commit with ${command}.`);
}

async function isRolledBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}
