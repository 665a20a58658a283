/**
 * The two ways to open a store, and the choice between them by a setting. Each loads its database driver only when it
 * is called, so that a program can import this file on Node, where SQLite stores are not supported. Contains no rules.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import type { LineLog } from "../process/log.ts";
import type { Store } from "./store.ts";
import { storeSetting } from "./store-setting.ts";

export interface SqliteOptions {
  /** Holds `asyncagents.db` and its mirror `tasks.json`; created if missing. */
  directory: string;
  /** For events that a person may want to look up later. */
  log?: LineLog;
}

export interface PostgresOptions {
  connectionString: string;
  /** The schema that holds the tables; created if missing. */
  schema?: string;
}

/**
 * Opens the store that is configured: the PostgreSQL database at that address, else SQLite in the data folder. Every
 * program of ours opens its store with this, so that all of them see the same tasks.
 */
export async function openStore(options: SqliteOptions & { address: string | undefined }): Promise<Store> {
  const { address, ...sqlite } = options;
  const setting = storeSetting({ address });
  return setting === null ? sqliteStore(sqlite) : postgresStore({ connectionString: setting.connectionString });
}

/** Opens a SQLite store; any number of processes on one machine may open it at once. Needs Bun. */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  if (!process.versions.bun) {
    const message =
      "The SQLite store needs Bun, and this program runs on Node. Start it with Bun (npm install -g bun), or use postgresStore.";
    throw new AsyncAgentsError("store_unavailable", message);
  }
  const { openSqliteStore } = await import("./sqlite/sqlite-store.ts");
  return openSqliteStore(options);
}

/** Opens a PostgreSQL store. The schema (default `asyncagents`) is created if missing. */
export async function postgresStore(options: PostgresOptions): Promise<Store> {
  const { openPostgresStore } = await import("./postgres/postgres-store.ts");
  return openPostgresStore(options);
}
