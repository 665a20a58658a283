/**
 * The driver seam: what the store needs of a database. Two drivers, `sqlite/` and `postgres/`. A driver's promise:
 * writes are serialised in commit order, a read never sees an open write, and failures of the database itself arrive
 * as `store_unavailable` with what to do. It knows nothing of tasks.
 */
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type Dialect = "sqlite" | "postgres";

export interface Database {
  readonly dialect: Dialect;
  /** Runs reads. They see what was committed, never an open write transaction. */
  read<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Runs `work` in one write transaction; a throw rolls it back. It must not start another write inside. */
  write<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Calls back, merged, after commits of this or any other process that changed something. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
