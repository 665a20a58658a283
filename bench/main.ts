/**
 * `npm run bench`: runs the benchmarks, prints the report, writes the figures, and exits with 1 when a ratio is over its limit.
 */
import { mkdir } from "node:fs/promises";
import { availableParallelism, cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { type Arguments, type Benchmark, HELP, readArguments } from "./arguments.ts";
import { type Comparison, compareBackgroundTasks } from "./background-task.ts";
import { type Judged, judge, measures } from "./measures.ts";
import { bytesTable, timesTable, verdictLine } from "./report.ts";
import type { Trial } from "./trial.ts";

const FEW = 30;
/** The load for each core above which a run is called disturbed; a run alone stays well below it. */
const BUSY_LOAD = 1.1;
const reports = join(dirname(import.meta.dir), ".test-report");

type Run = Extract<Arguments, { type: "run" }>;

/** Each one prints its report and gives whether it is within its limits, with its figures. */
const benchmarks: Record<Benchmark, (run: Run, started: number) => Promise<{ passed: boolean; figures: object }>> = {
  "background-task": backgroundTask,
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

async function backgroundTask({ pairs, warmUps }: Run, started: number) {
  const onProgress = (line: string) => console.error(`${seconds(started).padStart(6)}  ${line}`);
  const comparison = await compareBackgroundTasks({ pairs, warmUps, onProgress });
  const judged = measures.map((measure) => judge(measure, comparison.pairs));
  print(comparison, judged, started);
  return { passed: judged.every(({ passed }) => passed !== false), figures: figuresOf(comparison, judged, warmUps) };
}

function print(comparison: Comparison, judged: readonly Judged[], started: number): void {
  const { pairs, openCodeVersion } = comparison;
  const about = `OpenCode ${openCodeVersion}, ${pairs.length} interleaved pairs, ${availableParallelism()} cores, ${seconds(started)}`;
  console.log(`\nBackground tasks, side by side (${about})\n`);
  console.log(`${timesTable(judged)}\n\n${bytesTable(comparison)}\n`);
  for (const each of judged) if (each.passed !== null) console.log(verdictLine(each));
  const load = loadavg()[0] ?? 0;
  if (load > BUSY_LOAD * availableParallelism()) {
    console.log(
      `\nThe load was ${load.toFixed(1)}: others were at work here, and the side that does more feels it more.`,
    );
  }
  if (pairs.length < FEW) console.log(`\nOnly ${pairs.length} pairs: ${FEW} or more make a result.`);
}

function figuresOf(comparison: Comparison, judged: readonly Judged[], warmUps: number): object {
  const { pairs, bytes, plainDefinition, openCodeVersion } = comparison;
  const times = ({ launchCall, launchPath, told }: Trial) => ({ launchCall, launchPath, told });
  return {
    name: "background-task" satisfies Benchmark,
    openCodeVersion,
    warmUps,
    measures: judged,
    bytes: { ...bytes, theirsWithoutBackground: plainDefinition },
    pairs: pairs.map(({ ours, theirs }) => ({ ours: times(ours), theirs: times(theirs) })),
  };
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}

process.exitCode = await main(process.argv.slice(2));
