/**
 * The benchmark of events across servers: how long a change takes from its commit on one server to the event stream of
 * another one, two processes on one PostgreSQL, compared with bare NOTIFY and LISTEN between two processes: from the
 * call of NOTIFY to its arrival. Both take turns, at moments that keep no step with anything.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newTask } from "../../src/testing/sample-task.ts";
import { type Child, startChild } from "../child-process.ts";
import { estimate, table } from "../report.ts";
import { medianEstimate, type Pair, quantile, ratioEstimate, seededRandom, tailRatioEstimate } from "../statistics.ts";
import type { StatusServerCalls } from "../status/server.ts";
import { progressOf } from "../status/stored-tasks.ts";
import type { StreamClientCalls } from "../status/stream-clients.ts";
import type { BareNotifyCalls } from "./bare-notify.ts";
import { withPostgres } from "./postgres-bed.ts";

const ROUNDS = { normal: 600, quick: 30 };
const WARM_UPS = 10;
/** At most so many times bare NOTIFY, in 99 of 100 cases. */
const MOST = 3;
const SHARE = 0.99;
const SEED = 14;
const TASK = "ses_benchlive";
const READER = "reader";
/** Changes of one process within 50 ms are announced together, the later ones later: that is not what is asked here. */
const MIN_PAUSE_MS = 60;
const PAUSE_SPREAD_MS = 60;

interface Stage {
  writer: Child<StatusServerCalls>;
  server: Child<StatusServerCalls>;
  reader: Child<StreamClientCalls>;
  notifier: Child<BareNotifyCalls>;
  listener: Child<BareNotifyCalls>;
}

export async function postgresEvents({ quick, onProgress }: { quick: boolean; onProgress: (line: string) => void }) {
  const rounds = quick ? ROUNDS.quick : ROUNDS.normal;
  onProgress(`a change to another server's stream, and bare NOTIFY: ${rounds} of each`);
  const pairs = await withPostgres((connectionString) => measure(connectionString, rounds));
  const random = seededRandom(SEED);
  const of = (name: keyof Pair) => pairs.map((pair) => pair[name]);
  const tail = tailRatioEstimate(pairs, SHARE, random);
  const median = {
    ours: medianEstimate(of("ours"), random),
    theirs: medianEstimate(of("theirs"), random),
    ratio: ratioEstimate(pairs, random),
  };
  const p99 = { ours: quantile(of("ours"), SHARE), theirs: quantile(of("theirs"), SHARE), ratio: tail, most: MOST };
  const passed = tail.value <= MOST;
  const rows = [
    ["p50", `${estimate(median.ours, 1)} ms`, `${estimate(median.theirs, 1)} ms`, estimate(median.ratio, 2), "", ""],
    [
      "p99",
      `${p99.ours.toFixed(1)} ms`,
      `${p99.theirs.toFixed(1)} ms`,
      estimate(tail, 2),
      `at most ${MOST}`,
      passed ? "✓" : "✗",
    ],
  ];
  const head = ["commit to another server's event stream", "asyncagents", "bare NOTIFY", "ratio", "limit", ""];
  console.log(`\nEvents across servers on PostgreSQL (${rounds} rounds)\n\n${table([head, ...rows])}\n`);
  return { passed, figures: { name: "postgres-events", rounds, median, p99 } };
}

async function measure(connectionString: string, rounds: number): Promise<Pair[]> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-events-"));
  const stage: Stage = {
    writer: startChild<StatusServerCalls>("./status/server.ts", folder),
    server: startChild<StatusServerCalls>("./status/server.ts", folder),
    reader: startChild<StreamClientCalls>("./status/stream-clients.ts", folder),
    notifier: startChild<BareNotifyCalls>("./postgres/bare-notify.ts", folder),
    listener: startChild<BareNotifyCalls>("./postgres/bare-notify.ts", folder),
  };
  try {
    await prepare(stage, connectionString, folder);
    const random = seededRandom(SEED);
    const pause = () => Bun.sleep(MIN_PAUSE_MS + random() * PAUSE_SPREAD_MS);
    const takes = { ours: () => change(stage, random, pause), theirs: () => notify(stage, pause) };
    const pairs: Pair[] = [];
    for (let round = -WARM_UPS; round < rounds; round++) {
      const pair: Pair = { ours: 0, theirs: 0 };
      for (const side of round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const)) {
        pair[side] = await takes[side]();
      }
      if (round >= 0) pairs.push(pair);
    }
    return pairs;
  } finally {
    for (const child of Object.values(stage)) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prepare(stage: Stage, connectionString: string, directory: string): Promise<void> {
  const postgres = { connectionString, schema: "bench_events" };
  await stage.writer.call("start", { directory, postgres });
  const url = await stage.server.call("start", { directory, postgres });
  const task = newTask(TASK, { host: "opencode", parentSessionId: "", parentMessageId: "" });
  await stage.writer.call("apply", { id: TASK, event: { type: "task.created", at: Date.now(), task } });
  await stage.reader.call("open", { name: READER, url, count: 1 });
  for (const child of [stage.notifier, stage.listener]) await child.call("connect", { connectionString });
  await stage.listener.call("listen", undefined as never);
}

async function change({ writer, reader }: Stage, random: () => number, pause: () => Promise<void>): Promise<number> {
  await reader.call("expect", { name: READER });
  await pause();
  const now = Date.now();
  const event = { type: "run.progressed", at: now, run: 0, progress: progressOf(now, random) } as const;
  const at = await writer.call("apply", { id: TASK, event });
  const [arrivedAt = Number.NaN] = (await reader.call("arrivals", { name: READER })).at;
  return arrivedAt - at;
}

async function notify({ notifier, listener }: Stage, pause: () => Promise<void>): Promise<number> {
  await listener.call("expect", undefined as never);
  await pause();
  const at = await notifier.call("notify", undefined as never);
  return (await listener.call("arrival", undefined as never)) - at;
}
