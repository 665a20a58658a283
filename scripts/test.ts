/**
 * `npm test`: the build, the checks, all tests in four lanes, and the requirements they prove. Arguments are parts of
 * paths (`npm test -- store`): only those files run, and unproven requirements are not reported. The last line is
 * always `N passed, N failed`.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { ensureBrowser } from "./browser.ts";
import { build } from "./build.ts";
import { printChecks, runChecks } from "./check.ts";
import { installAgents, TESTED_BY_DEFAULT } from "./testing/acp-agents.ts";
import { type GroupReport, startGroup, type TestGroup } from "./testing/group-run.ts";
import { splitIntoGroups } from "./testing/groups.ts";
import { capabilities } from "./testing/requirements.ts";
import { judge } from "./testing/verdict.ts";

/** More than cores: many tests wait for the programs that they have started. */
const LANES = 4;
const PROGRESS_MS = 10_000;
const root = dirname(import.meta.dir);
const reports = join(root, ".test-report");

async function main(filters: string[]): Promise<boolean> {
  const started = Date.now();
  const say = (line: string) => console.log(`… ${line}`);
  const files = await testFiles(filters);
  const checking = runChecks();
  await Promise.all([
    build({ say }),
    ensureBrowser(say),
    // Without them, only their own tests fail, and say why.
    files.some((file) => file.includes("/acp")) &&
      installAgents(TESTED_BY_DEFAULT).catch(({ message }) => say(message)),
  ]);
  const checks = await checking;
  printChecks(checks);
  const groups = await runGroups(files);
  const requirements: { id: string }[] = await Bun.file(join(root, "test/requirements.json")).json();
  const known = requirements.map(({ id }) => id);
  const verdict = judge({ checks, groups, known, capabilities, filtered: filters.length > 0 });

  console.log("");
  for (const failure of verdict.failures) console.log(`(fail) ${failure}`);
  const cpuSeconds = groups.reduce((sum, group) => sum + group.cpuSeconds, 0);
  const wallSeconds = (Date.now() - started) / 1000;
  console.log(`wall time: ${wallSeconds.toFixed(1)} s; processor time of the tests: ${cpuSeconds.toFixed(0)} s`);
  console.log(`requirements proven: ${verdict.proven} of ${known.length}`);
  console.log(`${verdict.passed} passed, ${verdict.failures.length} failed`);
  return verdict.failures.length === 0;
}

async function testFiles(filters: string[]): Promise<string[]> {
  const all = await Array.fromAsync(new Glob("test/**/*.test.{ts,tsx}").scan({ cwd: root }));
  const files = all.map((file) => file.replaceAll("\\", "/"));
  return filters.length === 0 ? files : files.filter((file) => filters.some((filter) => file.includes(filter)));
}

/** Each lane takes the next group when it has finished one. */
async function runGroups(files: string[]): Promise<GroupReport[]> {
  await rm(reports, { recursive: true, force: true });
  await mkdir(reports, { recursive: true });
  const groups = splitIntoGroups(files);
  const running = new Set<TestGroup>();
  const done: GroupReport[] = [];
  let passed = 0;
  let begun = 0;
  const stop = () => {
    begun = groups.length;
    for (const group of running) group.kill();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const lane = async () => {
    for (let next = groups[begun++]; next !== undefined; next = groups[begun++]) {
      const group = startGroup(root, reports, `group-${String(begun).padStart(2, "0")}`, next);
      running.add(group);
      done.push(await group.done);
      running.delete(group);
      passed += group.passed;
    }
  };
  const progress = setInterval(() => {
    const now = [...running].reduce((sum, group) => sum + group.passed, passed);
    const files = [...running].map(({ current }) => current).join(", ");
    console.log(`… ${now} tests passed, ${done.length} of ${groups.length} groups done; at ${files}`);
  }, PROGRESS_MS);
  await Promise.all(Array.from({ length: LANES }, lane));
  clearInterval(progress);
  const heaviest = done.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds);
  const lines = heaviest.map(({ cpuSeconds, name, files }) => `${cpuSeconds.toFixed(1)} ${name} ${files.join(" ")}\n`);
  await Bun.write(join(reports, "processor-time.txt"), lines.join(""));
  return done;
}

// Explicit, because a leftover test process must not keep this one waiting.
process.exit((await main(process.argv.slice(2))) ? 0 : 1);
