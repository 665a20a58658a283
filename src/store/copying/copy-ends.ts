/**
 * Opens the two stores of a copy. The source is one that nobody else uses, and stays so where the database can ensure
 * that; the target is created if missing, and has the tables of this version. Neither is changed otherwise. Addresses
 * that are shown have no password.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { isInstanceAlive } from "../../process/liveness.ts";
import type { Database } from "../database.ts";
import { migrate } from "../migrations/migrations.ts";
import { type PostgresOptions, postgresStore, type SqliteOptions, sqliteStore } from "../open.ts";
import { prepare } from "../prepare.ts";
import type { Lines } from "../queue/lines.ts";
import { tableLines } from "../queue/table-lines.ts";
import { storeFileOf } from "../sqlite-files/backups.ts";
import { addUpTotals } from "../tasks/agent-totals.ts";
import type { CopyEnd } from "./table-rows.ts";

export type CopyAddress = (SqliteOptions | PostgresOptions) & {
  /** For people. */
  shown: string;
};

export interface CopySource extends CopyEnd {
  close(): Promise<void>;
}

export interface CopyTarget extends CopySource, Pick<Database, "write"> {
  lines: Lines;
}

const DEFAULT_SCHEMA = "asyncagents";

export async function openSource(address: CopyAddress): Promise<CopySource> {
  if (!("directory" in address)) return postgresSource(address);
  const file = storeFileOf(address.directory);
  if (!existsSync(file)) throw new AsyncAgentsError("invalid_input", `There is no store in ${address.directory}.`);
  // Brings it to this version, and finishes what an earlier process left.
  await (await sqliteStore(address)).close();
  const [{ lockAlone }, { sqliteConnection }] = await Promise.all([
    import("../sqlite-files/lock-alone.ts"),
    import("../sqlite/connection.ts"),
  ]);
  const lock = lockAlone(file);
  try {
    const connection = sqliteConnection(file, "read");
    return {
      schema: null,
      read: (work) => work(connection.kysely),
      async close() {
        connection.close();
        lock.release();
      },
    };
  } catch (thrown) {
    lock.release();
    throw thrown;
  }
}

/** Nothing keeps others from opening it during the copy; what they change is found when the copy is checked. */
async function postgresSource(address: CopyAddress & PostgresOptions): Promise<CopySource> {
  const store = await postgresStore(address);
  try {
    const living = (await store.instances()).filter((instance) => isInstanceAlive(instance));
    if (living.length > 0) {
      const message = `${living.length} running engines use the store at ${address.shown}. Stop every daemon (asyncagents down), runner and OpenCode with the plugin on every machine. One that crashed counts until its lease is over, which takes up to a minute.`;
      throw new AsyncAgentsError("store_unavailable", message);
    }
  } finally {
    await store.close();
  }
  const { postgresDatabase } = await import("../postgres/postgres-database.ts");
  const { read, write, close } = await postgresDatabase(address);
  // Alone: two copies from one source must not add them up at once.
  await write(addUpTotals, { isAlone: true });
  return { schema: address.schema ?? DEFAULT_SCHEMA, read, close };
}

export async function openTarget(address: CopyAddress): Promise<CopyTarget> {
  return "directory" in address ? sqliteTarget(address) : postgresTarget(address);
}

async function sqliteTarget({ directory, log }: SqliteOptions): Promise<CopyTarget> {
  const file = storeFileOf(directory);
  if (existsSync(join(directory, "tasks.json")) && !existsSync(file)) {
    const message = `${directory} has a tasks.json, which the new store would import. Name another folder, or move the file.`;
    throw new AsyncAgentsError("not_empty", message);
  }
  const [{ lockAlone }, { sqliteDatabase }] = await Promise.all([
    import("../sqlite-files/lock-alone.ts"),
    import("../sqlite/sqlite-database.ts"),
  ]);
  if (existsSync(file)) lockAlone(file).release();
  const database = await sqliteDatabase({ file, ...(log && { log }) });
  await prepare(database, () => migrate(database));
  const { read, write, close } = database;
  return { schema: null, read, write, close, lines: tableLines };
}

async function postgresTarget(address: PostgresOptions): Promise<CopyTarget> {
  const [{ postgresDatabase }, { pgBossLines }] = await Promise.all([
    import("../postgres/postgres-database.ts"),
    import("../postgres/pg-boss-lines.ts"),
  ]);
  const { schema = DEFAULT_SCHEMA } = address;
  const database = await postgresDatabase(address);
  await prepare(database, () => migrate(database));
  const { read, write } = database;
  const lines = pgBossLines({ schema, read });
  const close = async () => {
    await lines.close();
    await database.close();
  };
  return { schema, read, write, close, lines };
}
