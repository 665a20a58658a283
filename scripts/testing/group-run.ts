/**
 * Runs the files of one group in one `bun test` process and reads its report. Shows everything except passing tests
 * live; the full output is kept beside the report. It judges nothing: the caller handles a missing or incomplete
 * report.
 */

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { streamLines } from "../../src/process/stream-lines.ts";
import { parseJunit, type TestResult } from "./junit.ts";

export interface GroupReport {
  name: string;
  files: string[];
  tests: TestResult[];
  /** Processor time of the group and of what it started and waited for: a busy machine does not change it. */
  cpuSeconds: number;
  /** Why the group itself failed, beyond its tests. */
  crash?: string;
}

/** A running group, for the progress line. */
export interface TestGroup {
  name: string;
  passed: number;
  /** The file whose tests are running. */
  current: string;
  done: Promise<GroupReport>;
  kill(): void;
}

const TEST_TIMEOUT_MS = 120_000;
/** Longer than any test may take: a group that is silent this long hangs outside its tests. */
const SILENCE_LIMIT_MS = 5 * TEST_TIMEOUT_MS;

export function startGroup(root: string, folder: string, name: string, files: string[]): TestGroup {
  const report = join(folder, `${name}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const paths = files.map((file) => `./${file}`);
  const child = Bun.spawn([process.execPath, "test", ...paths, `--timeout=${TEST_TIMEOUT_MS}`, ...reporter], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log = createWriteStream(join(folder, `${name}.log`));
  let silent = false;
  let ended = false;
  const silence = setTimeout(() => {
    silent = true;
    child.kill("SIGKILL");
  }, SILENCE_LIMIT_MS);
  const group: TestGroup = { name, passed: 0, current: "", done: finish(), kill: () => child.kill() };

  async function show(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of streamLines(stream)) {
      if (ended) return;
      silence.refresh();
      log.write(`${line}\n`);
      if (/^\S+\.test\.tsx?:$/.test(line)) group.current = line.slice(0, -1);
      else if (line.startsWith("(pass)")) group.passed++;
      else if (line.trim() !== "") console.log(`${name} | ${line}`);
    }
  }

  async function finish(): Promise<GroupReport> {
    // A process that a test left behind can hold the pipes open: the group has ended when its own process has.
    const shown = Promise.all([show(child.stdout), show(child.stderr)]);
    const code = await child.exited;
    await Promise.race([shown, Bun.sleep(1_000)]);
    ended = true;
    clearTimeout(silence);
    log.end();
    const file = Bun.file(report);
    const tests = (await file.exists()) ? parseJunit(await file.text()) : [];
    const crash = silent ? `said nothing for ${SILENCE_LIMIT_MS / 1000} s and was ended` : crashOf(code, tests);
    const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
    return { name, files, tests, cpuSeconds, ...(crash && { crash }) };
  }

  return group;
}

/**
 * Bun exits with 0 or 1, and writes a report if any test ran. A test that calls `process.exit(0)` yields 0 and no
 * report.
 */
export function crashOf(code: number, tests: readonly TestResult[]): string | undefined {
  if (tests.length === 0) return `ended with code ${code} and no report`;
  const failed = tests.some((test) => test.outcome === "failed");
  if (code === 0 || (code === 1 && failed)) return undefined;
  return `ended with code ${code}`;
}
