/**
 * Lines of waiting runs as queues of pg-boss, one per line, in a schema of their own. Everything inside a transaction
 * runs on the transaction's connection, so that a job exists exactly if its run waits. A job is deleted when it is
 * taken: leases, retries and results are ours, so pg-boss has nothing to maintain. Loaded when the first run is queued.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomUUID } from "node:crypto";
import type { CompiledQuery, Kysely } from "kysely";
import type { PgBoss } from "pg-boss";
import { AsyncAgentsError } from "../../model/errors.ts";
import { withFolderLines } from "../queue/folder-lines.ts";
import type { Lines } from "../queue/lines.ts";
import type { Schema } from "../schema.ts";

interface Connections {
  /** The schema of our own tables. */
  schema: string;
  /** Runs work outside of transactions. */
  read<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T>;
}

export function pgBossLines({ schema, read }: Connections): Lines {
  const transaction = new AsyncLocalStorage<Kysely<Schema>>();
  const query = async (kysely: Kysely<Schema>, sql: string, parameters: readonly unknown[] = []) => {
    // A query that needs no more compiling; the kinds of its parts do not matter any more.
    const compiled = { sql, parameters, query: { kind: "RawNode" }, queryId: { queryId: "pg-boss" } };
    const { rows } = await kysely.executeQuery(compiled as unknown as CompiledQuery<Record<string, unknown>>);
    return { rows };
  };
  const executeSql = (sql: string, parameters?: unknown[]) => {
    const kysely = transaction.getStore();
    return kysely ? query(kysely, sql, parameters) : read((each) => query(each, sql, parameters));
  };
  let starting: Promise<PgBoss> | null = null;
  const start = () => {
    starting ??= startBoss(schema, executeSql).catch((thrown: unknown) => {
      starting = null;
      throw thrown;
    });
    // Its tables are made on a connection of their own, whatever becomes of the transaction that is open now.
    return transaction.exit(() => starting as Promise<PgBoss>);
  };
  const within = async <T>(kysely: Kysely<Schema>, work: (boss: PgBoss) => Promise<T>) => {
    const boss = await start();
    return transaction.run(kysely, () => work(boss));
  };
  return withFolderLines({
    open: async (line) => (await start()).createQueue(line),
    newTicket: () => randomUUID(),
    add: (kysely, line, runs) =>
      within(kysely, async (boss) => {
        const jobs = runs.map(({ taskId, priority, ticket }) => ({ id: ticket, data: { taskId }, priority }));
        const made = (await boss.insert(line, jobs, { returnId: true })) ?? [];
        if (made.length !== jobs.length) throw new AsyncAgentsError("internal", `pg-boss did not queue in ${line}.`);
      }),
    take: (kysely, line, count) =>
      within(kysely, async (boss) => {
        // Whenever they start: that is when they were queued, by a clock that may have been set back since.
        const jobs = await boss.fetch<{ taskId: string }>(line, { batchSize: count, ignoreStartAfter: true });
        const ids = jobs.map(({ id }) => id);
        const isRemoved = ids.length === 0 ? Promise.resolve() : boss.deleteJob(line, ids).then(() => {});
        return { taskIds: jobs.map(({ data }) => data.taskId), isRemoved };
      }),
    remove: (kysely, line, ticket) =>
      within(kysely, async (boss) => {
        await boss.deleteJob(line, ticket);
      }),
    async close() {
      const boss = await starting?.catch(() => null);
      await boss?.stop({ graceful: false, close: false });
    },
  });
}

async function startBoss(
  schema: string,
  executeSql: (sql: string, parameters?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>,
): Promise<PgBoss> {
  const { PgBoss: Boss } = await loadPgBoss();
  const boss = new Boss({
    db: { executeSql },
    schema: bossSchema(schema),
    // No job outlives the transaction that takes it, so there is nothing to expire, to archive or to schedule.
    supervise: false,
    schedule: false,
  });
  // What fails rejects its call; without a listener the process would end.
  boss.on("error", () => {});
  return boss.start();
}

/** The table of what waits in lines, quoted. There is none before the first line. */
export function jobsTable(schema: string): string {
  return `"${bossSchema(schema)}".job`;
}

/** pg-boss only accepts simple names. */
function bossSchema(schema: string): string {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(schema)) return `${schema}_queue`;
  return `asyncagents_queue_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
}

async function loadPgBoss() {
  try {
    return await import("pg-boss");
  } catch (cause) {
    const message = "Queued tasks on PostgreSQL need the package pg-boss: run `npm install pg-boss@12.35.0`.";
    throw new AsyncAgentsError("store_unavailable", message, { cause });
  }
}
