/**
 * `npm test`: the build, the checks, all tests in two lanes, and the requirements they prove. Arguments are parts of
 * paths (`npm test -- store`): only those files run, and unproven requirements are not reported. The last line is
 * always `N passed, N failed`.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { ensureBrowser } from "./browser.ts";
import { build } from "./build.ts";
import { printChecks, runChecks } from "./check.ts";
import { type Lane, type LaneReport, startLane } from "./testing/lane-run.ts";
import { splitIntoLanes } from "./testing/lanes.ts";
import { capabilities } from "./testing/requirements.ts";
import { judge } from "./testing/verdict.ts";

const LANES = 2;
const PROGRESS_MS = 10_000;
const root = dirname(import.meta.dir);
const reports = join(root, ".test-report");

async function main(filters: string[]): Promise<boolean> {
  const started = Date.now();
  const say = (line: string) => console.log(`… ${line}`);
  await build({ say });
  await ensureBrowser(say);
  const checks = await runChecks();
  printChecks(checks);
  const lanes = await runLanes(await testFiles(filters));
  const requirements: { id: string }[] = await Bun.file(join(root, "test/requirements.json")).json();
  const known = requirements.map(({ id }) => id);
  const verdict = judge({ checks, lanes, known, capabilities, filtered: filters.length > 0 });

  console.log("");
  for (const failure of verdict.failures) console.log(`(fail) ${failure}`);
  console.log(`wall time: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  console.log(`requirements proven: ${verdict.proven} of ${known.length}`);
  console.log(`${verdict.passed} passed, ${verdict.failures.length} failed`);
  return verdict.failures.length === 0;
}

async function testFiles(filters: string[]): Promise<string[]> {
  const all = await Array.fromAsync(new Glob("test/**/*.test.{ts,tsx}").scan({ cwd: root }));
  const files = all.map((file) => file.replaceAll("\\", "/"));
  return filters.length === 0 ? files : files.filter((file) => filters.some((filter) => file.includes(filter)));
}

async function runLanes(files: string[]): Promise<LaneReport[]> {
  await rm(reports, { recursive: true, force: true });
  await mkdir(reports, { recursive: true });
  const lanes = splitIntoLanes(files, LANES).map((lane, i) => startLane(root, reports, `lane-${i + 1}`, lane));
  const stop = () => {
    for (const lane of lanes) lane.kill();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const progress = setInterval(() => console.log(progressLine(lanes)), PROGRESS_MS);
  const done = await Promise.all(lanes.map((lane) => lane.done));
  clearInterval(progress);
  return done;
}

function progressLine(lanes: readonly Lane[]): string {
  const passed = lanes.reduce((sum, lane) => sum + lane.passed, 0);
  return `… ${passed} tests passed so far; ${lanes.map((lane) => `${lane.name}: ${lane.current}`).join(", ")}`;
}

// Explicit, because a leftover test process must not keep this one waiting.
process.exit((await main(process.argv.slice(2))) ? 0 : 1);
