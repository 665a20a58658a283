/**
 * The benchmark of many stored tasks on PostgreSQL: lists, searches and the start of a server with 1,000,000 tasks,
 * compared with 100,000. Both stores are schemas of one database, each with a server of its own; they take turns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { folderToken } from "../../src/http/access/token-file.ts";
import { startChild } from "../child-process.ts";
import { estimate, table } from "../report.ts";
import { type Estimate, medianEstimate, type Pair, ratioEstimate, seededRandom } from "../statistics.ts";
import { requestRate } from "../status/request-load.ts";
import type { StatusServerCalls } from "../status/server.ts";
import { withPostgres } from "./postgres-bed.ts";
import { fillSchema, WORDS } from "./stored/filled-schema.ts";

const SIZES = {
  normal: { written: 10_000, few: 10, many: 100, rounds: 15, requests: 100, starts: 10 },
  quick: { written: 1_000, few: 2, many: 20, rounds: 3, requests: 20, starts: 3 },
};
/** At most so many times the smaller store. */
const MOST = 1.2;
const SEED = 14;
const WARM_UPS = 2;
const PATH = "/v1/tasks";
const FILLING = ["max_wal_size = '16GB'", "autovacuum = off"];

/** What is asked, and whether it has a limit. What counts ten times as many tasks has none. */
const ASKED = [
  { title: "a list of 50", path: PATH, isLimited: true },
  { title: "a list, costliest first", path: `${PATH}?sort=cost`, isLimited: true },
  { title: "a list by description", path: `${PATH}?sort=description&order=asc`, isLimited: true },
  { title: "a list of a host, longest first", path: `${PATH}?sort=took&host=opencode`, isLimited: false },
  { title: "a search, as many found", path: `${PATH}?search=${WORDS.fixed}`, isLimited: true },
  { title: "a search, 1% found", path: `${PATH}?search=${WORDS.hundredth}`, isLimited: false },
  { title: "a search, 30% found", path: `${PATH}?search=${WORDS.frequent}`, isLimited: false },
] as const;

interface Judged {
  title: string;
  /** In ms. */
  many: Estimate;
  few: Estimate;
  ratio: Estimate;
  most: number | null;
  passed: boolean | null;
}

interface Options {
  quick: boolean;
  onProgress(line: string): void;
}

/** A store in the database, and the data folder of its server. */
interface Stored {
  postgres: { connectionString: string; schema: string };
  directory: string;
  tasks: number;
}

export async function storedTasks({ quick, onProgress }: Options) {
  const size = quick ? SIZES.quick : SIZES.normal;
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-stored-"));
  try {
    const { judged, bytes } = await withPostgres((connectionString) =>
      measure(connectionString, folder, size, onProgress),
    );
    const rows = judged.map(({ title, many, few, ratio, most, passed }) => [
      title,
      `${estimate(many, 2)} ms`,
      `${estimate(few, 2)} ms`,
      estimate(ratio, 2),
      most === null ? "" : `at most ${most}`,
      passed === null ? "" : passed ? "✓" : "✗",
    ]);
    const [many, few] = [size.many, size.few].map((times) => (times * size.written).toLocaleString("en-US"));
    const head = ["median [95% interval]", `${many} tasks`, `${few} tasks`, "ratio", "limit", ""];
    console.log(`\nStored tasks on PostgreSQL (${bytes} bytes each, with indexes)\n\n${table([head, ...rows])}\n`);
    return {
      passed: judged.every(({ passed }) => passed !== false),
      figures: { name: "stored-tasks", ...size, bytesPerTask: bytes, measures: judged },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  connectionString: string,
  folder: string,
  size: (typeof SIZES)["normal"],
  onProgress: Options["onProgress"],
): Promise<{ judged: Judged[]; bytes: number }> {
  const stored = (name: "many" | "few"): Stored => ({
    postgres: { connectionString, schema: `bench_${name}` },
    directory: join(folder, name),
    tasks: size[name] * size.written,
  });
  const stores = { many: stored("many"), few: stored("few") };
  const bytes = await filled(stores, size, onProgress);
  const judged = [
    ...(await measureRequests(stores, folder, size, onProgress)),
    judge("the start of a server", await measureStarts(stores, folder, size.starts), MOST),
  ];
  return { judged, bytes };
}

/** Returns the bytes of a task in the larger store. */
async function filled(
  { many, few }: Record<"many" | "few", Stored>,
  { written }: { written: number },
  onProgress: Options["onProgress"],
): Promise<number> {
  const client = new pg.Client({ connectionString: many.postgres.connectionString });
  await client.connect();
  try {
    // Only while it is filled: otherwise checkpoints and vacuuming take most of the time.
    for (const setting of FILLING) await client.query(`alter system set ${setting}`);
    await client.query("select pg_reload_conf()");
    for (const { postgres, tasks } of [few, many]) {
      onProgress(`filling a store with ${tasks.toLocaleString("en-US")} tasks`);
      await fillSchema(client, { ...postgres, written, times: tasks / written });
    }
    await client.query("alter system reset all");
    await client.query("select pg_reload_conf()");
    await client.query("checkpoint");
    const { rows } = await client.query(
      "select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = $1::regnamespace",
      [many.postgres.schema],
    );
    return Math.round(Number(rows[0]?.bytes) / many.tasks);
  } finally {
    await client.end();
  }
}

async function measureRequests(
  stores: Record<"many" | "few", Stored>,
  folder: string,
  { rounds, requests }: { rounds: number; requests: number },
  onProgress: Options["onProgress"],
): Promise<Judged[]> {
  const children = { many: startServer(folder), few: startServer(folder) };
  try {
    const urls = { many: "", few: "" };
    for (const name of ["many", "few"] as const) {
      const { directory, postgres } = stores[name];
      urls[name] = await children[name].call("start", { directory, postgres });
    }
    const judged: Judged[] = [];
    for (const { title, path, isLimited } of ASKED) {
      const took = async (name: "many" | "few") => {
        const load = { url: urls[name], path, token: folderToken(stores[name].directory), before() {} };
        return 1_000 / (await requestRate(load, requests));
      };
      const pairs = await inTurns(rounds, took);
      judged.push(judge(title, pairs, isLimited ? MOST : null));
      onProgress(`${title}: ${judged.at(-1)?.ratio.value.toFixed(2)} times`);
    }
    return judged;
  } finally {
    for (const child of Object.values(children)) await child.stop();
  }
}

/** From the first call of a new process to the first list that its server answers. */
function measureStarts(stores: Record<"many" | "few", Stored>, folder: string, starts: number): Promise<Pair[]> {
  return inTurns(starts, async (name) => {
    const { directory, postgres } = stores[name];
    const child = startServer(folder);
    try {
      const began = performance.now();
      const url = await child.call("start", { directory, postgres });
      const answer = await fetch(`${url}${PATH}`);
      await answer.text();
      return performance.now() - began;
    } finally {
      await child.stop();
    }
  });
}

/** Ours are the many. */
async function inTurns(rounds: number, took: (name: "many" | "few") => Promise<number>): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const pair: Pair = { ours: 0, theirs: 0 };
    for (const name of round % 2 === 0 ? (["many", "few"] as const) : (["few", "many"] as const)) {
      pair[name === "many" ? "ours" : "theirs"] = await took(name);
    }
    if (round >= 0) pairs.push(pair);
  }
  return pairs;
}

function startServer(folder: string) {
  return startChild<StatusServerCalls>("./status/server.ts", folder);
}

function judge(title: string, pairs: readonly Pair[], most: number | null): Judged {
  const random = seededRandom(SEED);
  const of = (name: keyof Pair) => {
    const values = pairs.map((pair) => pair[name]);
    return medianEstimate(values, random);
  };
  const ratio = ratioEstimate(pairs, random);
  return {
    title,
    many: of("ours"),
    few: of("theirs"),
    ratio,
    most,
    passed: most === null ? null : ratio.value <= most,
  };
}
