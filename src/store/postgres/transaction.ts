/**
 * One write transaction on one connection. It begins together with its first queries. If the connection breaks during
 * the commit, the server is asked what became of it; if it cannot say, the outcome stays open, and no later write of
 * this store begins before it is known. Does not retry.
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
  /** Transactions whose commit was sent, but not answered. */
  readonly #open = new Set<string>();

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
  }

  async write<T>(work: Work<T>, options: WriteOptions): Promise<Written<T>> {
    for (const xid of [...this.#open]) await this.#isCommitted(xid);
    const client = await this.#pool.connect();
    let isBroken = true;
    try {
      const bound = await this.#kyselyOf(client);
      const { xid, result } = await this.#prepare(client, bound, work, options);
      // Sent together with the commit: what it locks is not kept from others while an answer is on its way.
      const ordering = bound.hasEvents && !options.isAlone ? this.#beforeCommit(client) : Promise.resolve(false);
      const committing = commit(client);
      const [ordered] = await Promise.allSettled([ordering, committing]);
      if (ordered.status === "rejected" && isAnswer(ordered.reason)) throw ordered.reason;
      const isAnnounced = ordered.status === "fulfilled" && ordered.value;
      try {
        await committing;
      } catch (thrown) {
        this.#open.add(xid);
        // Perhaps only the answer was lost.
        const isCommitted = await this.#isCommitted(xid).catch(() => {
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
    const first = [
      client.query(begin),
      client.query({
        name: `asyncagents_${lock}`,
        text: `select pg_current_xact_id()::text as xid, ${lock}(hashtextextended($1, 0))`,
        values: [this.#schemaLock],
        ...(isAlone && { query_timeout: NO_LIMIT }),
      }),
    ] as const;
    // Sent together with these two. If one of these failed, that is the reason for what came after it.
    const [begun, locked, done] = await Promise.allSettled([...first, work(bound.kysely)]);
    // The next one to use this connection may be a read.
    bound.queryTimeout = null;
    for (const each of [begun, locked, done]) if (each.status === "rejected") throw each.reason;
    const { rows } = (locked as PromiseFulfilledResult<{ rows: { xid: string }[] }>).value;
    return { xid: String(rows[0]?.xid), result: (done as PromiseFulfilledResult<T>).value };
  }

  /** Rejects if the transaction is not over, or if the server cannot be asked. */
  async #isCommitted(xid: string): Promise<boolean> {
    const ask = async () => {
      const status = await this.#statusOf(xid);
      if (status !== "in progress") return status === "committed";
      const message = "An earlier write to the task store on PostgreSQL is still under way. Try again.";
      throw new AsyncAgentsError("store_unavailable", message);
    };
    const isCommitted = await retryWhileBusy(ask, { shouldRetry: () => true, limit: COMMIT_PATIENCE });
    this.#open.delete(xid);
    return isCommitted;
  }

  async #statusOf(xid: string): Promise<string | null> {
    try {
      const { rows } = await this.#pool.query("select pg_xact_status($1::xid8) as status", [xid]);
      return rows[0]?.status ?? null;
    } catch (thrown) {
      // It is in the future: another server has taken over, and did not get that transaction.
      if (codeOf(thrown) === INVALID_PARAMETER) return null;
      throw thrown;
    }
  }
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
