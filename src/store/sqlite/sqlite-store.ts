/**
 * Opens the SQLite store: creates or migrates the schema, imports an earlier tasks.json, and keeps the tasks.json
 * mirror up to date. If it fails, nothing is left open. Needs Bun: only `open.ts` imports it, on demand.
 */
import { join } from "node:path";
import { refuseIfIncomplete } from "../copying/incomplete-copy.ts";
import { kyselyStore } from "../kysely-store.ts";
import { migrate } from "../migrations/migrations.ts";
import type { SqliteOptions } from "../open.ts";
import { prepare } from "../prepare.ts";
import { lockFileOf } from "../sqlite-files/damage.ts";
import type { Store } from "../store.ts";
import { importTasksJson } from "../tasks-json/import.ts";
import { tasksJsonMirror } from "../tasks-json/mirror.ts";
import { sqliteDatabase } from "./sqlite-database.ts";

export async function openSqliteStore({ directory, log = () => {} }: SqliteOptions): Promise<Store> {
  const file = join(directory, "asyncagents.db");
  const mirrorFile = join(directory, "tasks.json");
  const database = await sqliteDatabase({ file, log });
  await prepare(database, async () => {
    await migrate(database);
    await refuseIfIncomplete(database);
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
