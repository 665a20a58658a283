/**
 * The benchmark of many live tasks: 10,000 scripted agents at work in one runner on PostgreSQL, and a server that
 * streams what they do. Shows the memory of a live task, and whether everything that the agents do arrives at the
 * stream.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Child, startChild } from "../child-process.ts";
import { count, table } from "../report.ts";
import { quantile } from "../statistics.ts";
import type { StatusServerCalls } from "../status/server.ts";
import type { LiveRunnerCalls } from "./live-runner.ts";
import { withPostgres } from "./postgres-bed.ts";
import { ProgressReader } from "./progress-reader.ts";

const SIZES = {
  normal: { tasks: 10_000, everyMs: 30_000, windowMs: 60_000 },
  quick: { tasks: 500, everyMs: 4_000, windowMs: 8_000 },
};
/** At least this share of the agents' calls must arrive within the window: those at its end are still on their way. */
const LEAST_ARRIVED = 0.95;
/** The limit of memory for a live task, in bytes. */
const MOST_BYTES = 50_000;
const WARM_TASKS = 0.05;

type Size = (typeof SIZES)["normal"];
type State = Awaited<ReturnType<LiveRunnerCalls["state"]>>;

interface Options {
  quick: boolean;
  onProgress(line: string): void;
}

export async function liveTasks({ quick, onProgress }: Options) {
  const size = quick ? SIZES.quick : SIZES.normal;
  const figures = await withPostgres((connectionString) => measure(connectionString, size, onProgress));
  const { bytesPerTask, live, made, arrived, lag } = figures;
  const judged = [
    { title: "live tasks", value: count(live), limit: `${count(size.tasks)}`, passed: live === size.tasks },
    {
      title: "memory of a live task",
      value: `${count(bytesPerTask)} bytes`,
      limit: `at most ${count(MOST_BYTES)}`,
      passed: bytesPerTask <= MOST_BYTES,
    },
    { title: "… of this, JavaScript's heap", value: `${count(figures.heapPerTask)} bytes` },
    { title: "tool calls of the agents", value: `${(made / figures.seconds).toFixed(0)} a second` },
    {
      title: "events at another server's stream",
      value: `${(arrived / figures.seconds).toFixed(0)} a second`,
      limit: `at least ${LEAST_ARRIVED} of the calls`,
      passed: arrived >= LEAST_ARRIVED * made,
    },
    { title: "a call to its event, p50 and p99", value: `${lag.p50.toFixed(0)} and ${lag.p99.toFixed(0)} ms` },
    {
      title: "beginning all of them",
      value: `${figures.beginSeconds.toFixed(0)} s, ${figures.begunPerSecond.toFixed(0)} a second`,
    },
    { title: "the runner's processor time", value: `${(100 * figures.busy).toFixed(0)}% of a core` },
    { title: "the runner's longest standstill", value: `${figures.longestStallMs.toFixed(0)} ms` },
    { title: "size of the database, per task", value: `${count(figures.storedBytesPerTask)} bytes` },
  ];
  const rows = judged.map(({ title, value, limit = "", passed }) => [
    title,
    value,
    limit,
    passed === undefined ? "" : passed ? "✓" : "✗",
  ]);
  console.log(
    `\nLive tasks on PostgreSQL (${count(size.tasks)} in one process)\n\n${table([["", "", "limit", ""], ...rows])}\n`,
  );
  return {
    passed: judged.every(({ passed }) => passed !== false),
    figures: { name: "live-tasks", ...size, ...figures },
  };
}

async function measure(connectionString: string, size: Size, onProgress: Options["onProgress"]) {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-live-"));
  const runner = startChild<LiveRunnerCalls>("./postgres/live-runner.ts", folder);
  const server = startChild<StatusServerCalls>("./status/server.ts", folder);
  const reader = new ProgressReader();
  try {
    const postgres = { connectionString, schema: "bench_live" };
    const { tasks, everyMs } = size;
    await runner.call("open", { postgres, directory: folder, tasks, everyMs });
    // Code and tables are warm before the first measurement.
    const warm = Math.ceil(tasks * WARM_TASKS);
    await runner.call("fill", { tasks: warm });
    const before = await runner.call("state", undefined as never);
    onProgress(`beginning ${count(tasks)} tasks`);
    const began = await fill(runner, { from: warm, to: tasks });
    const url = await server.call("start", { directory: folder, postgres });
    await reader.open(url);
    await Bun.sleep(everyMs / 2);
    const start = await runner.call("state", undefined as never);
    onProgress(`watching them for ${size.windowMs / 1_000} s`);
    reader.begin();
    const started = performance.now();
    await Bun.sleep(size.windowMs);
    const { arrived, lags } = reader.end();
    const seconds = (performance.now() - started) / 1_000;
    const end = await runner.call("state", undefined as never);
    return {
      ...perTask(before, end, tasks - warm),
      live: end.live,
      made: end.toolCalls - start.toolCalls,
      arrived,
      lag: { p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) },
      seconds,
      beginSeconds: began / 1_000,
      begunPerSecond: ((tasks - warm) * 1_000) / began,
      busy: (end.cpuMs - start.cpuMs) / 1_000 / seconds,
      longestStallMs: end.longestStallMs,
      storedBytesPerTask: Math.round((await storedBytes(connectionString, postgres.schema)) / tasks),
    };
  } finally {
    reader.close();
    for (const child of [runner, server]) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In steps, because a call is answered within a limited time. */
async function fill(runner: Child<LiveRunnerCalls>, { from, to }: { from: number; to: number }): Promise<number> {
  const step = Math.ceil((to - from) / 10);
  let took = 0;
  for (let tasks = from + step; took === 0 || tasks < to + step; tasks += step) {
    took += await runner.call("fill", { tasks: Math.min(tasks, to) });
  }
  return took;
}

function perTask(before: State, after: State, tasks: number) {
  return {
    bytesPerTask: Math.round((after.residentBytes - before.residentBytes) / tasks),
    heapPerTask: Math.round((after.heapBytes - before.heapBytes) / tasks),
  };
}

async function storedBytes(connectionString: string, schema: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query(
      "select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = $1::regnamespace",
      [schema],
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}
