/**
 * The driver seam: what the store needs from a database. Two drivers, `sqlite/` and `postgres/`. A driver guarantees
 * that writes are serialised in commit order, that a read never sees an open write, and that failures of the database
 * itself are reported as `store_unavailable` with what to do. Knows nothing about tasks.
 */
import type { Kysely, RawBuilder } from "kysely";
import type { Schema } from "./schema.ts";

export type Dialect = "sqlite" | "postgres";

export interface Database {
  readonly dialect: Dialect;
  /** The database's own clock in a query: ms since the epoch, when the query runs. */
  clock(): RawBuilder<number>;
  /** Runs reads. They see committed data, never an open write transaction. */
  read<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one write transaction; an exception rolls it back. It must not start another write inside. A
   * rejected write was not committed, unless the database could not be reached afterwards to find out
   * (`store_unavailable`).
   */
  write<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
  /**
   * Calls back, coalesced, after commits of any process that changed something. Returns a function that unsubscribes.
   */
  onChange(listener: () => void): () => void;
  /** Somebody waits for what was just written: other processes that listen for changes look at once. */
  hurry(): void;
  close(): Promise<void>;
}
