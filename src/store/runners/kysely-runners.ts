/** The runners on a database. A runner is kept for an hour after it was last heard of. */
import { type Kysely, sql } from "kysely";
import { databaseTime } from "../database-time.ts";
import type { Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";
import type { RunnerRecord, RunnerRecords, SeenRunner } from "./records.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

interface RunnerTable {
  read: Run;
  write: Run;
  now(): number;
}

const KEPT_MS = 3_600_000;
const MOST = 1_000;

export function kyselyRunners({ read, write, now }: RunnerTable): RunnerRecords {
  return {
    put: (runner) => write((kysely) => putRunner(kysely, now(), runner)),
    list: () => read((kysely) => readRunners(kysely, now())),
  };
}

async function putRunner(kysely: Kysely<Schema>, at: number, runner: RunnerRecord): Promise<void> {
  const { id, hosts, labels, max, limits, lacks, startedAt, ...plain } = runner;
  const time = databaseTime(dialectOf(kysely), at);
  const values = {
    ...plain,
    offer: JSON.stringify({ hosts, labels, max, limits }),
    lacks: JSON.stringify(lacks),
    started_at: startedAt,
    seen_at: time,
  };
  await kysely
    .insertInto("runners")
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(values))
    .execute();
  await kysely.deleteFrom("runners").where("seen_at", "<", sql<number>`${time} - ${KEPT_MS}`).execute();
}

async function readRunners(kysely: Kysely<Schema>, at: number): Promise<SeenRunner[]> {
  const time = databaseTime(dialectOf(kysely), at);
  const rows = await kysely
    .selectFrom("runners")
    .selectAll()
    .select(sql<number>`${time} - seen_at`.as("seen_ago"))
    .where("seen_at", ">=", sql<number>`${time} - ${KEPT_MS}`)
    .orderBy("started_at", "desc")
    .orderBy("id")
    .limit(MOST)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    machine: row.machine,
    hostname: row.hostname,
    version: row.version,
    ...(JSON.parse(row.offer) as Pick<RunnerRecord, "hosts" | "labels" | "max" | "limits">),
    load: row.load,
    lacks: JSON.parse(row.lacks),
    state: row.state as RunnerRecord["state"],
    startedAt: row.started_at,
    seenAgo: Math.max(0, Math.round(row.seen_ago)),
  }));
}
