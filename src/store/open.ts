/**
 * The two ways to open a store. Opening makes or migrates the schema and brings in an earlier tasks.json; closing writes
 * what is owed and lets go of everything. Either a store comes out or nothing is left open. Holds no rules.
 */
import { join } from "node:path";
import type { Database, Log } from "./database.ts";
import { kyselyStore } from "./kysely-store.ts";
import { migrate } from "./migrations/migrations.ts";
import { type PostgresOptions, postgresDatabase } from "./postgres/postgres-database.ts";
import { sqliteDatabase } from "./sqlite/sqlite-database.ts";
import { lockFileOf } from "./sqlite-files/damage.ts";
import type { Store } from "./store.ts";
import { importTasksJson } from "./tasks-json/import.ts";
import { tasksJsonMirror } from "./tasks-json/mirror.ts";

export interface SqliteOptions {
  /** Holds `asyncagents.db` and its mirror `tasks.json`; made if it is missing. */
  directory: string;
  /** Where to say what a person may want to know later. */
  log?: Log;
}

/** Opens the store of one machine; any number of processes may open it at once. */
export async function sqliteStore({ directory, log = () => {} }: SqliteOptions): Promise<Store> {
  const file = join(directory, "asyncagents.db");
  const mirrorFile = join(directory, "tasks.json");
  const database = await sqliteDatabase({ file, log });
  await prepare(database, async () => {
    await migrate(database);
    await importTasksJson(database, mirrorFile, log);
  });
  const mirror = tasksJsonMirror({ database, file: mirrorFile, lockFile: lockFileOf(file), log });
  return kyselyStore({
    ...database,
    async write(work) {
      const result = await database.write(work);
      mirror.touch();
      return result;
    },
    async close() {
      await mirror.close();
      await database.close();
    },
  });
}

/** Opens the store of many machines. The schema (`asyncagents` when absent) is made if it is missing. */
export async function postgresStore(options: PostgresOptions): Promise<Store> {
  const database = await postgresDatabase(options);
  await prepare(database, () => migrate(database));
  return kyselyStore(database);
}

async function prepare(database: Database, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}
