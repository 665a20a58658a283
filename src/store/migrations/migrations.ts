/**
 * The ordered list of migrations. They only add and are never edited once released; the version is a row in `meta`.
 * They run in one write transaction, so any number of processes may open a store at once. A process that is older than
 * the store can read it but refuses to write.
 */
import type { Kysely } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Database, Dialect } from "../database.ts";
import { putMeta, readMeta } from "../meta.ts";
import type { Schema } from "../schema.ts";
import { firstTables } from "./1-tables.ts";
import { statusTables } from "./2-status.ts";
import { boardTables } from "./3-board.ts";
import { mergeCommits } from "./4-merges.ts";
import { approvalsTable } from "./5-approvals.ts";
import { widerSearch } from "./6-search.ts";
import { heartbeats } from "./7-heartbeats.ts";
import { parentHosts } from "./8-notices.ts";
import { accessTables } from "./9-access.ts";
import { queueTables } from "./10-queue.ts";
import { leases } from "./11-leases.ts";
import { remoteCallsTable } from "./12-remote-calls.ts";
import { transcriptsTable } from "./13-transcripts.ts";
import { feedOrder } from "./14-feed-order.ts";
import { wakes } from "./15-wake.ts";
import { runnersTable } from "./16-runners.ts";
import { indexesForMany } from "./17-many-tasks.ts";
import { inboxIndexes } from "./18-inbox.ts";
import { steeringTable } from "./19-steering.ts";
import { afterTables } from "./20-after.ts";
import { budgetTables } from "./21-budgets.ts";
import { runPauses } from "./22-quotas.ts";
import { notificationTables } from "./23-notifications.ts";
import { mergeConflicts } from "./24-conflicts.ts";
import { followersTable } from "./25-followers.ts";
import { sortedLists } from "./26-lists.ts";
import { spansTable } from "./27-spans.ts";
import { longTexts } from "./28-long-texts.ts";

type Migration = (kysely: Kysely<Schema>, dialect: Dialect) => Promise<void>;

const MIGRATIONS: readonly Migration[] = [
  firstTables,
  statusTables,
  boardTables,
  mergeCommits,
  approvalsTable,
  widerSearch,
  heartbeats,
  parentHosts,
  accessTables,
  queueTables,
  leases,
  remoteCallsTable,
  transcriptsTable,
  feedOrder,
  wakes,
  runnersTable,
  indexesForMany,
  inboxIndexes,
  steeringTable,
  afterTables,
  budgetTables,
  runPauses,
  notificationTables,
  mergeConflicts,
  followersTable,
  sortedLists,
  spansTable,
  longTexts,
];

/** The version that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Migrates the schema to this code's version, or to an earlier one for tests of later migrations. */
export async function migrate(database: Database, target = SCHEMA_VERSION): Promise<void> {
  // No table yet, or nothing readable: the write below creates it, or throws the real error.
  const known = await database.read(storedVersion).catch(() => 0);
  if (known >= target) return;
  const work = async (kysely: Kysely<Schema>) => {
    await kysely.schema
      .createTable("meta")
      .ifNotExists()
      .addColumn("key", "text", (column) => column.primaryKey())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();
    for (let version = await storedVersion(kysely); version < target; version++) {
      await MIGRATIONS[version]?.(kysely, database.dialect);
      await putMeta(kysely, "schema_version", String(version + 1));
    }
  };
  await database.write(work, { isAlone: true });
}

/** Throws if a newer asyncagents has changed the store: writes of this version might be wrong there. */
export async function refuseIfNewer(kysely: Kysely<Schema>): Promise<void> {
  const version = await storedVersion(kysely);
  if (version <= SCHEMA_VERSION) return;
  const message = `The task store was written by a newer asyncagents (schema ${version}, this one knows ${SCHEMA_VERSION}). Upgrade asyncagents and restart this program; until then it can only read.`;
  throw new AsyncAgentsError("store_too_new", message, { details: { version, known: SCHEMA_VERSION } });
}

async function storedVersion(kysely: Kysely<Schema>): Promise<number> {
  return Number((await readMeta(kysely, "schema_version")) ?? 0);
}
