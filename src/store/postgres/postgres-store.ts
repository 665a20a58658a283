/**
 * Opens the PostgreSQL store and creates or migrates its schema. If it fails, nothing is left open.
 */
import { refuseIfIncomplete } from "../copying/incomplete-copy.ts";
import { kyselyStore } from "../kysely-store.ts";
import { migrate } from "../migrations/migrations.ts";
import type { PostgresOptions } from "../open.ts";
import { prepare } from "../prepare.ts";
import type { Store } from "../store.ts";
import { withGatheredReads } from "./gathered-reads.ts";
import { jobsTable, pgBossLines } from "./pg-boss-lines.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { repairLines } from "./repair-lines.ts";

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const database = await postgresDatabase(options);
  await prepare(database, async () => {
    await migrate(database);
    await refuseIfIncomplete(database);
  });
  const { schema = "asyncagents" } = options;
  const lines = pgBossLines({ schema, read: database.read });
  // What fails here fails those who queue or claim, too, and they say so.
  await repairLines(database, lines, jobsTable(schema)).catch(() => {});
  return withGatheredReads(kyselyStore(database, lines), database);
}
