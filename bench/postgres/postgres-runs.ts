/**
 * The benchmark of runs on PostgreSQL: how many tasks a second go through the queue and the engine, from the commit
 * that queues them to the commit that ends them, compared with jobs through bare pg-boss. Both sides are processes of
 * their own on one server and take turns; once directly, and once with 2 ms of network. At the end the tables are
 * counted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Child, startChild } from "../child-process.ts";
import { estimate, table } from "../report.ts";
import { type Estimate, medianEstimate, type Pair, ratioEstimate, seededRandom } from "../statistics.ts";
import { delayingProxy } from "./delaying-proxy.ts";
import { withPostgres } from "./postgres-bed.ts";
import type { Round, SideCalls } from "./runs/side.ts";

const SIZES = { normal: { rounds: 12, jobs: 1_000 }, quick: { rounds: 2, jobs: 200 } };
/** As for one busy runner, and the server that queues for it. */
const LOAD = { senders: 16, atOnce: 64 };
const DELAYS = [0, 2];
const LEAST = 0.5;
const SEED = 14;

/** What is compared, and what each side does in its rounds. */
const COMPARED: readonly { title: string; least: number | null; ours: Round["kind"]; theirs: Round["kind"] }[] = [
  { title: "tasks of people", least: LEAST, ours: "plain", theirs: "plain" },
  { title: "tasks of sessions, with notices", least: null, ours: "variant", theirs: "plain" },
  { title: "to pg-boss, completing in batches", least: null, ours: "plain", theirs: "variant" },
];

interface Judged {
  title: string;
  ours: Estimate;
  theirs: Estimate;
  ratio: Estimate;
  least: number | null;
  passed: boolean | null;
  trips: { ours: number; theirs: number };
}

interface Options {
  quick: boolean;
  onProgress(line: string): void;
}

export async function postgresRuns({ quick, onProgress }: Options) {
  const size = quick ? SIZES.quick : SIZES.normal;
  const judged: Judged[] = [];
  await withPostgres(async (connectionString) => {
    for (const delayMs of DELAYS) {
      onProgress(`runs on PostgreSQL and jobs of pg-boss, ${delayMs} ms of network`);
      judged.push(...(await measure(connectionString, delayMs, size, onProgress)));
    }
  });
  const rows = judged.map(({ title, ours, theirs, ratio, least, passed, trips }) => [
    title,
    estimate(ours, 0),
    estimate(theirs, 0),
    estimate(ratio, 2),
    least === null ? "" : `at least ${least}`,
    passed === null ? "" : passed ? "✓" : "✗",
    `${trips.ours.toFixed(1)} / ${trips.theirs.toFixed(1)}`,
  ]);
  const head = ["per second [95% interval]", "asyncagents", "bare pg-boss", "ratio", "limit", "", "round trips each"];
  const about = `${LOAD.senders} senders, ${LOAD.atOnce} at once, ${size.rounds} rounds of ${size.jobs}`;
  console.log(`\nRuns on PostgreSQL (${about})\n\n${table([head, ...rows])}\n`);
  return {
    passed: judged.every(({ passed }) => passed !== false),
    figures: { name: "postgres-runs", ...LOAD, ...size, measures: judged },
  };
}

async function measure(
  connectionString: string,
  delayMs: number,
  { rounds, jobs }: (typeof SIZES)["normal"],
  onProgress: Options["onProgress"],
): Promise<Judged[]> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-sides-"));
  const sides = {
    ours: await startSide("engine", { connectionString, delayMs, folder }),
    theirs: await startSide("pg-boss", { connectionString, delayMs, folder }),
  };
  const perSecond = async (side: Side, kind: Round["kind"]) => {
    const before = side.trips;
    const rate = await side.child.call("round", { ...LOAD, jobs, kind });
    return { rate, trips: (side.trips - before) / jobs };
  };
  try {
    for (const side of Object.values(sides)) await perSecond(side, "plain");
    // As autovacuum does within a minute: until then, plans are made for empty tables.
    await onServer(connectionString, (client) => client.query("vacuum analyze"));
    const judged: Judged[] = [];
    let done = jobs;
    for (const { title, least, ours, theirs } of COMPARED) {
      const pairs: Pair[] = [];
      const trips: Pair = { ours: 0, theirs: 0 };
      for (let round = -1; round < rounds; round++) {
        const pair: Pair = { ours: 0, theirs: 0 };
        for (const name of round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const)) {
          const measured = await perSecond(sides[name], name === "ours" ? ours : theirs);
          pair[name] = measured.rate;
          trips[name] = measured.trips;
        }
        done += jobs;
        if (round >= 0) pairs.push(pair);
        onProgress(`${title}: ${pair.ours.toFixed(0)}/s, pg-boss ${pair.theirs.toFixed(0)}/s`);
      }
      judged.push(judge(`${title}, ${delayMs} ms`, pairs, least, trips));
    }
    await assertAllDone(connectionString, sides, done);
    return judged;
  } finally {
    for (const { stop } of Object.values(sides)) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(title: string, pairs: readonly Pair[], least: number | null, trips: Pair): Judged {
  const random = seededRandom(SEED);
  const of = (name: keyof Pair) => {
    const values = pairs.map((pair) => pair[name]);
    return medianEstimate(values, random);
  };
  const ratio = ratioEstimate(pairs, random);
  const passed = least === null ? null : ratio.value >= least;
  return { title, ours: of("ours"), theirs: of("theirs"), ratio, least, passed, trips };
}

interface Side {
  child: Child<SideCalls>;
  schema: string;
  readonly trips: number;
  stop(): Promise<void>;
}

async function startSide(
  name: "engine" | "pg-boss",
  { connectionString, delayMs, folder }: { connectionString: string; delayMs: number; folder: string },
): Promise<Side> {
  const proxy = await delayingProxy(connectionString, delayMs);
  const child = startChild<SideCalls>(`./postgres/runs/${name}-side.ts`, folder);
  const schema = `bench_${name.replace("-", "_")}_${delayMs}`;
  await child.call("open", { connectionString: proxy.connectionString, schema, atOnce: LOAD.atOnce });
  return {
    child,
    schema,
    get trips() {
      return proxy.trips;
    },
    async stop() {
      await child.stop();
      proxy.close();
    },
  };
}

/** Nothing may have been lost or left out on the way. */
async function assertAllDone(connectionString: string, { ours, theirs }: Record<keyof Pair, Side>, jobs: number) {
  await ours.child.call("close", undefined as never);
  await onServer(connectionString, async (client) => {
    const count = async (text: string) => Number((await client.query(text)).rows[0]?.count);
    const figures = [
      await count(`select count(*) from ${ours.schema}.tasks where status = 'completed'`),
      await count(`select count(*) from ${ours.schema}.runs where outcome = 'completed'`),
      await count(`select count(*) from ${ours.schema}.events where type = 'run.completed'`),
      await count(`select count(*) from ${theirs.schema}.job where state = 'completed'`),
    ];
    const left = await count(`select count(*) from ${ours.schema}.queued_runs`);
    const untold = await count(`select count(*) from ${ours.schema}.notices where state <> 'delivered'`);
    if (figures.every((figure) => figure === jobs) && left === 0 && untold === 0) return;
    throw new Error(`Of ${jobs} jobs: ${figures.join(", ")} are done, ${left} still queued, ${untold} not told.`);
  });
}

async function onServer<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
