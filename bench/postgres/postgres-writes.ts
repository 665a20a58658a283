/**
 * The benchmark of writes to PostgreSQL: how many progress events eight writers store in a second, each for its own
 * task, compared with the same statements under one lock. Both take turns on one server; once directly, and once with
 * a delay of 2 ms in between, as in a network.
 */
import { noProgress } from "../../src/model/progress.ts";
import { postgresStore } from "../../src/store/open.ts";
import { newTask } from "../../src/testing/sample-task.ts";
import { estimate, table } from "../report.ts";
import { medianEstimate, type Pair, ratioEstimate, seededRandom } from "../statistics.ts";
import { delayingProxy } from "./delaying-proxy.ts";
import { lockedWriter } from "./locked-writes.ts";
import { withPostgres } from "./postgres-bed.ts";

const WRITERS = 8;
const ROUNDS = { normal: { rounds: 10, writes: 400 }, quick: { rounds: 2, writes: 80 } };
/** The least ratio, by the delay in ms. */
const LIMITS = [
  { delayMs: 0, least: 1.5 },
  { delayMs: 2, least: 5 },
];
const SEED = 14;

type Write = (number: number) => Promise<unknown>;

export async function postgresWrites({ quick, onProgress }: { quick: boolean; onProgress: (line: string) => void }) {
  const size = quick ? ROUNDS.quick : ROUNDS.normal;
  const measured = await withPostgres(async (connectionString) => {
    const all: { delayMs: number; least: number; pairs: Pair[] }[] = [];
    for (const { delayMs, least } of LIMITS) {
      onProgress(`${WRITERS} writers on PostgreSQL, ${delayMs} ms of network`);
      all.push({ delayMs, least, pairs: await measure(connectionString, `bench_${delayMs}`, delayMs, size) });
    }
    return all;
  });
  const judged = measured.map(({ delayMs, least, pairs }) => {
    const random = seededRandom(SEED);
    const ratio = ratioEstimate(pairs, random);
    const ours = medianEstimate(
      pairs.map((pair) => pair.ours),
      random,
    );
    const theirs = medianEstimate(
      pairs.map((pair) => pair.theirs),
      random,
    );
    return { title: `${delayMs} ms of network`, ours, theirs, ratio, least, passed: ratio.value >= least };
  });
  const rows = judged.map(({ title, ours, theirs, ratio, least, passed }) => [
    title,
    estimate(ours, 0),
    estimate(theirs, 0),
    estimate(ratio, 2),
    `at least ${least}`,
    passed ? "✓" : "✗",
  ]);
  const head = ["writes per second [95% interval]", "asyncagents", "one lock for all", "ratio", "limit", ""];
  console.log(`\nWrites to PostgreSQL, ${WRITERS} writers (${size.rounds} rounds)\n\n${table([head, ...rows])}\n`);
  return { passed: judged.every(({ passed }) => passed), figures: { name: "postgres-writes", measures: judged } };
}

async function measure(
  connectionString: string,
  schema: string,
  delayMs: number,
  { rounds, writes }: (typeof ROUNDS)["normal"],
): Promise<Pair[]> {
  const proxy = await delayingProxy(connectionString, delayMs);
  const store = await postgresStore({ connectionString: proxy.connectionString, schema });
  const locked = Array.from({ length: WRITERS }, () => lockedWriter(proxy.connectionString, schema));
  try {
    const ids = Array.from({ length: WRITERS }, (_, number) => `task-${number}`);
    for (const id of ids) await store.apply(id, { type: "task.created", at: 1, task: newTask(id) });
    const progress = (number: number) => ({ ...noProgress(number), toolCalls: number });
    const ours = ids.map((id): Write => {
      return (at) => store.apply(id, { type: "run.progressed", at, run: 0, progress: progress(at) });
    });
    const theirs = ids.map((id, writer): Write => {
      const text = (at: number) => JSON.stringify(progress(at));
      return async (at) => locked[writer]?.progress(id, text(at), `{"type":"run.progressed","progress":${text(at)}}`);
    });
    const pairs: Pair[] = [];
    await perSecond(ours, writes / 4);
    await perSecond(theirs, writes / 4);
    for (let round = 0; round < rounds; round++) {
      const isFirst = round % 2 === 0;
      const first = await perSecond(isFirst ? ours : theirs, writes);
      const second = await perSecond(isFirst ? theirs : ours, writes);
      pairs.push(isFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
    }
    return pairs;
  } finally {
    await Promise.all(locked.map((writer) => writer.close()));
    await store.close();
    proxy.close();
  }
}

/** All writers at once, each one write after the other. */
async function perSecond(writers: readonly Write[], writes: number): Promise<number> {
  const started = performance.now();
  const each = Math.ceil(writes / writers.length);
  await Promise.all(
    writers.map(async (write) => {
      for (let number = 1; number <= each; number++) await write(number);
    }),
  );
  return (each * writers.length * 1_000) / (performance.now() - started);
}
