/** The runners on a database. A runner is kept for an hour after it was last heard of. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";
import type { RunnerRecord, RunnerRecords, SeenRunner } from "./records.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

interface RunnerTable {
  read: Run;
  write: Run;
  /** The database's clock, see `Database`. */
  clock(): RawBuilder<number>;
}

const KEPT_MS = 3_600_000;
const MOST = 1_000;

export function kyselyRunners({ read, write, clock }: RunnerTable): RunnerRecords {
  return {
    put: (runner) => write((kysely) => putRunner(kysely, clock(), runner)),
    list: () => read((kysely) => readRunners(kysely, clock())),
  };
}

async function putRunner(kysely: Kysely<Schema>, clock: RawBuilder<number>, runner: RunnerRecord): Promise<void> {
  const { id, hosts, labels, max, limits, lacks, startedAt, ...plain } = runner;
  const values = {
    ...plain,
    offer: JSON.stringify({ hosts, labels, max, limits }),
    lacks: JSON.stringify(lacks),
    started_at: startedAt,
    seen_at: sql<number>`floor(${clock})`,
  };
  await kysely
    .insertInto("runners")
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(values))
    .execute();
  await kysely.deleteFrom("runners").where("seen_at", "<", sql<number>`${clock} - ${KEPT_MS}`).execute();
}

async function readRunners(kysely: Kysely<Schema>, clock: RawBuilder<number>): Promise<SeenRunner[]> {
  const rows = await kysely
    .selectFrom("runners")
    .selectAll()
    .select(sql<number>`${clock} - seen_at`.as("seen_ago"))
    .where("seen_at", ">=", sql<number>`${clock} - ${KEPT_MS}`)
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
