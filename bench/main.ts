/**
 * `npm run bench`: runs the benchmarks, prints the report, writes the figures, and exits with 1 if a ratio exceeds
 * its limit.
 */
import { mkdir } from "node:fs/promises";
import { availableParallelism, cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { type Arguments, type Benchmark, HELP, readArguments } from "./arguments.ts";
import {
  type Comparison,
  compareBackgroundTasks,
  compareManyTasks,
  plainDefinitionBytes,
} from "./opencode/background-task.ts";
import { type Judged, judge, MANY_MEASURES, measuresOf } from "./opencode/measures.ts";
import { panelCost } from "./opencode/panel.ts";
import type { Trial } from "./opencode/trial.ts";
import { liveTasks } from "./postgres/live-tasks.ts";
import { postgresEvents } from "./postgres/postgres-events.ts";
import { postgresRuns } from "./postgres/postgres-runs.ts";
import { postgresWrites } from "./postgres/postgres-writes.ts";
import { storedTasks } from "./postgres/stored-tasks.ts";
import { bytesTable, disturbance, MODE_LABELS, timesTable, verdictLine } from "./report.ts";
import { statusApi } from "./status/status-api.ts";

const FEW = 30;
/**
 * A pair launches 120 agents: fewer pairs are enough, and the ratio varies less from pair to pair than with one task.
 */
const MANY_TRIALS = { pairs: 10, warmUps: 2 };
const QUICK_MANY = { pairs: 1, warmUps: 0 };
/** Enough for the ratio of starts; the rests take a minute each. */
const PANEL_PAIRS = 20;
const PANEL_RESTS = 3;
const reports = join(dirname(import.meta.dir), ".test-report");

type Run = Extract<Arguments, { type: "run" }>;

/** Each benchmark prints its report and returns its figures and whether it is within its limits. */
const benchmarks: Record<Benchmark, (run: Run, started: number) => Promise<{ passed: boolean; figures: object }>> = {
  "background-task": backgroundTask,
  "many-tasks": manyTasks,
  panel: ({ pairs, warmUps, quick }, started) =>
    panelCost({
      pairs: Math.min(pairs, PANEL_PAIRS),
      warmUps: quick ? 0 : Math.min(warmUps, 1),
      rests: quick ? 1 : PANEL_RESTS,
      onProgress: progressFrom(started),
    }),
  "status-api": ({ parts, quick }, started) => statusApi({ parts, quick, onProgress: progressFrom(started) }),
  "postgres-writes": ({ quick }, started) => postgresWrites({ quick, onProgress: progressFrom(started) }),
  "postgres-events": ({ quick }, started) => postgresEvents({ quick, onProgress: progressFrom(started) }),
  "live-tasks": ({ quick }, started) => liveTasks({ quick, onProgress: progressFrom(started) }),
  "stored-tasks": ({ quick }, started) => storedTasks({ quick, onProgress: progressFrom(started) }),
  "postgres-runs": ({ quick }, started) => postgresRuns({ quick, onProgress: progressFrom(started) }),
};

async function main(args: string[]): Promise<number> {
  const read = readArguments(args);
  if (read.type === "help") {
    console.log(HELP);
    return 0;
  }
  if (read.type === "wrong") {
    console.error(`${read.problem}\n\n${HELP}`);
    return 2;
  }
  const started = performance.now();
  const outcomes: { passed: boolean; figures: object }[] = [];
  for (const name of read.benchmarks) outcomes.push(await benchmarks[name](read, started));
  await mkdir(reports, { recursive: true });
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    platform: process.platform,
    load: loadavg()[0],
  };
  const report = { at: new Date().toISOString(), machine, benchmarks: outcomes.map(({ figures }) => figures) };
  await Bun.write(join(reports, "bench.json"), `${JSON.stringify(report, null, 2)}\n`);
  return outcomes.every(({ passed }) => passed) ? 0 : 1;
}

/** A comparison with its verdicts. */
type JudgedComparison = Comparison & { judged: Judged[] };

async function backgroundTask({ pairs, warmUps, on }: Run, started: number) {
  const onProgress = progressFrom(started);
  onProgress("OpenCode without background tasks: the size of its plain definition");
  const plainDefinition = await plainDefinitionBytes();
  const comparisons: JudgedComparison[] = [];
  for (const mode of on) {
    onProgress(`${MODE_LABELS[mode]}: OpenCode with the plugin and with its own background tasks`);
    const comparison = await compareBackgroundTasks(mode, { pairs, warmUps, onProgress });
    comparisons.push({ ...comparison, judged: measuresOf(mode).map((measure) => judge(measure, comparison.pairs)) });
  }
  print(comparisons, plainDefinition, started);
  const passed = comparisons.every(({ judged }) => judged.every((each) => each.passed !== false));
  return { passed, figures: figuresOf(comparisons, plainDefinition, warmUps) };
}

async function manyTasks({ quick }: Run, started: number) {
  const onProgress = progressFrom(started);
  onProgress("many tasks in one step: OpenCode with the plugin and with its own background tasks");
  const pairs = await compareManyTasks({ ...(quick ? QUICK_MANY : MANY_TRIALS), onProgress });
  const judged = MANY_MEASURES.map((measure) => judge(measure, pairs));
  const load = loadavg()[0] ?? 0;
  console.log(
    `\nMany tasks in one step (${pairs.length} interleaved pairs, load ${load.toFixed(1)})\n\n${timesTable(judged)}\n`,
  );
  for (const each of judged) console.log(verdictLine(MODE_LABELS.serve, each));
  const passed = judged.every((each) => each.passed !== false);
  return { passed, figures: { name: "many-tasks" satisfies Benchmark, load, measures: judged, pairs } };
}

function print(comparisons: readonly JudgedComparison[], plainDefinition: number, started: number): void {
  const cores = availableParallelism();
  console.log(`\nBackground tasks, side by side (${cores} cores, ${seconds(started)})`);
  for (const { mode, judged, pairs, openCodeVersion, load } of comparisons) {
    const about = `OpenCode ${openCodeVersion}, ${pairs.length} interleaved pairs, load ${load.toFixed(1)}`;
    console.log(`\n${MODE_LABELS[mode]} (${about})\n\n${timesTable(judged)}`);
    const disturbed = disturbance(load, cores);
    if (disturbed) console.log(disturbed);
    if (pairs.length < FEW) console.log(`Only ${pairs.length} pairs: ${FEW} or more make a result.`);
  }
  const [first] = comparisons;
  if (first) console.log(`\n${bytesTable(first.bytes, plainDefinition)}\n`);
  for (const { mode, judged } of comparisons) {
    for (const each of judged) if (each.passed !== null) console.log(verdictLine(MODE_LABELS[mode], each));
  }
}

function figuresOf(comparisons: readonly JudgedComparison[], plainDefinition: number, warmUps: number): object {
  const times = ({ launchCall, launchPath, told }: Trial) => ({ launchCall, launchPath, told });
  return {
    name: "background-task" satisfies Benchmark,
    warmUps,
    theirDefinitionWithoutBackground: plainDefinition,
    on: comparisons.map(({ judged, pairs, ...about }) => ({
      ...about,
      measures: judged,
      pairs: pairs.map(({ ours, theirs }) => ({ ours: times(ours), theirs: times(theirs) })),
    })),
  };
}

function progressFrom(started: number): (line: string) => void {
  return (line) => console.error(`${seconds(started).padStart(6)}  ${line}`);
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}

process.exitCode = await main(process.argv.slice(2));
