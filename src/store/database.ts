/**
 * The driver seam: what the store needs from a database. Two drivers, `sqlite/` and `postgres/`. A driver guarantees
 * that a write is atomic, that a read never sees an open write, and that failures of the database itself are reported
 * as `store_unavailable` with what to do. Writes may run at the same time: one that decides on what it read takes a
 * lock (`sql/lock.ts`) before it reads. Knows nothing about tasks.
 */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type Dialect = "sqlite" | "postgres";

export interface WriteOptions {
  /** Changes the tables, or what the store is: no other write runs meanwhile, and it may take long. */
  isAlone?: boolean;
  /**
   * A registration or a heartbeat: does not wait behind other writes of this process, nor for a connection that is
   * dead, and is rejected if the database does not answer soon. Where there is one writer at a time, it is like any
   * other.
   */
  isUrgent?: boolean;
}

export interface Database {
  readonly dialect: Dialect;
  /** What `databaseTime` is given in queries: this machine's clock. */
  now(): number;
  /** Runs reads. They see committed data, never an open write transaction. */
  read<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one write transaction; an exception rolls it back. It must not start another write inside, and may
   * be rerun from its start. A rejected write was not committed, unless the database could not be reached afterwards to
   * find out (`store_unavailable`); such a write is over before a later one of this process begins.
   */
  write<T>(work: (kysely: Kysely<Schema>) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Gives the events that were committed their place in the feed. Absent if they have it anyway. */
  orderEvents?(): Promise<void>;
  /**
   * Calls back, coalesced, after commits of any process that changed something. Returns a function that unsubscribes.
   */
  onChange(listener: () => void): () => void;
  /** Somebody waits for what was just written: other processes that listen for changes look at once. */
  hurry(): void;
  close(): Promise<void>;
}
