/**
 * The checks of `doctor` about the store: whether it can be used, whether the daemon waits for it, and whether the
 * daemon uses the same one as this shell. While the store is the cause, nothing here has a daemon restarted: that
 * interrupts tasks which would go on by themselves. Reads only.
 */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Configuration } from "../../configuration/sections.ts";
import { type DaemonRecord, findDaemon } from "../../daemon/find-daemon.ts";
import { troublesIn } from "../../engine/watching/troubles.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { SCHEMA_VERSION } from "../../store/migrations/migrations.ts";
import { missingRight, postgresSummary } from "../../store/postgres/summary.ts";
import { isDamage } from "../../store/sqlite/failure.ts";
import { type PostgresSetting, storeSetting } from "../../store/store-setting.ts";
import { otherStore, SAME_STORE } from "../other-store.ts";
import { quantity } from "../terminal/text.ts";
import { type CheckContext, type Finding, ok, problem, warning } from "./finding.ts";

const OTHER_DATABASE =
  "Start the database, or set ASYNCAGENTS_STORE, or store.address in asyncagents.json, to one that can be used.";
const WAITED_FOR =
  "Start the database, or see that it can be reached. The daemon and its agents wait, and go on by themselves then: do not restart it.";
const RESTART = "asyncagents down --force && asyncagents up";

export async function checkStore({ directory, applied, configuration }: CheckContext): Promise<Finding> {
  if (applied.problems.length > 0) return warning("store", "not checked", "Correct the settings first.");
  try {
    const postgres = storeSetting(configuration.store);
    if (postgres !== null) return await checkPostgres(postgres);
  } catch (thrown) {
    const isWaitedFor = findDaemon(directory)?.postgres === shownStore(configuration);
    return problem("store", messageOf(thrown), isWaitedFor ? WAITED_FOR : OTHER_DATABASE);
  }
  return checkSqlite(directory);
}

async function checkPostgres(postgres: PostgresSetting): Promise<Finding> {
  const summary = await postgresSummary(postgres);
  const { shown } = postgres;
  if (summary !== null) return checkVersion(`${shown}, `, summary.schemaVersion, summary.tasks);
  const lacking = await missingRight(postgres);
  return lacking === null
    ? ok("store", `${shown}, none yet (created at first use)`)
    : problem("store", `${shown}, none yet, and its user may not create it`, `Have an administrator run: ${lacking}`);
}

function checkVersion(where: string, version: number, tasks: number): Finding {
  const says = `${where}schema ${version}, ${quantity(tasks, "task")}`;
  if (version > SCHEMA_VERSION)
    return problem("store", `${says}; this version supports ${SCHEMA_VERSION}`, "Upgrade asyncagents.");
  return ok("store", version < SCHEMA_VERSION ? `${says}; upgraded to ${SCHEMA_VERSION} at the next start` : says);
}

async function checkSqlite(directory: string): Promise<Finding> {
  const file = join(directory, "asyncagents.db");
  if (!existsSync(file)) return ok("store", "none yet (created at first use)");
  try {
    const database = new Database(file, { readonly: true });
    try {
      const row = database.query("select value from meta where key = 'schema_version'").get() as {
        value: string;
      } | null;
      const tasks = (database.query("select count(*) as count from tasks").get() as { count: number }).count;
      return checkVersion("", Number(row?.value ?? 0), tasks);
    } finally {
      database.close();
    }
  } catch (thrown) {
    return problem("store", `does not open: ${messageOf(thrown)}`, storeRemedy(thrown, directory));
  }
}

function storeRemedy(thrown: unknown, directory: string): string {
  if (troublesIn(directory).some(({ kind }) => kind === "disk_full")) {
    return "Free some space first: on a full disk even an intact store may not open.";
  }
  if (!isDamage(thrown)) return `Check that you may read and write ${directory} and the files in it.`;
  return "It is damaged. Run: asyncagents down && asyncagents up. What can be read is recovered at the start, and the damaged file is kept.";
}

export async function checkTroubles({ directory, configuration }: CheckContext): Promise<Finding[]> {
  if (configuration.store.address !== undefined) return [];
  return troublesIn(directory).map(({ kind, message }) =>
    kind === "disk_full"
      ? problem("disk", message, "Free some space on that disk.")
      : problem("store", message, "asyncagents store status shows the backups."),
  );
}

/** What to do about a daemon that does not answer: nothing, while its database does not either. */
export async function silentDaemon(
  { postgres }: DaemonRecord,
  says: string,
  thrown: unknown,
  configuration: Configuration,
): Promise<Finding> {
  const isUnavailable = AsyncAgentsError.isInstance(thrown) && thrown.code === "store_unavailable";
  if (isUnavailable || (postgres !== null && (await isAway(postgres, configuration)))) {
    const wait = "Do not restart it: it goes on by itself when the store is back.";
    return problem("daemon", `${says}, waits for its store`, wait);
  }
  const silent = `${says}, does not answer: ${messageOf(thrown)}`;
  if (postgres === null || postgres === shownStore(configuration)) return problem("daemon", silent, RESTART);
  const unknown = `Look whether its database ${postgres} can be reached: if not, start that, and the daemon goes on by itself.`;
  return problem("daemon", silent, `${unknown} Otherwise: ${RESTART}`);
}

/** False if this shell knows another database: nobody can tell then. */
async function isAway(postgres: string, { store }: Configuration): Promise<boolean> {
  try {
    const setting = storeSetting(store);
    if (setting?.shown === postgres) await postgresSummary(setting);
    return false;
  } catch {
    return shownStore({ store }) === postgres;
  }
}

/** What this shell does with the store itself would go elsewhere than what the daemon does. */
export function checkSameStore(daemon: DaemonRecord, { applied, configuration }: CheckContext): Finding[] {
  if (applied.problems.length > 0) return [];
  const wanted = shownStore(configuration);
  const stores = wanted === undefined ? null : otherStore(daemon, wanted);
  return stores === null ? [] : [problem("daemon", stores, SAME_STORE)];
}

/** Null for SQLite; undefined if the address cannot be read. */
function shownStore({ store }: Pick<Configuration, "store">): string | null | undefined {
  try {
    return storeSetting(store)?.shown ?? null;
  } catch {
    return undefined;
  }
}
