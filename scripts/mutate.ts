/**
 * Mutation testing: changes the code in one small place at a time, runs the tests that reach that place, and prints
 * the share of changes that made a test fail, with those that did not. Works in a temporary copy, never in the tree
 * itself. `npm run mutate -- --folder src/claude [--tests PART,…] [--file PART] [--limit 40] [--seed 1] [--jobs 1]
 * [--tree DIRECTORY]`
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { parse } from "../test/ground/syntax.ts";
import { type Coverage, mayRun, readCoverage } from "./mutation/coverage.ts";
import { type Mutation, mutated, mutationsOf, sample } from "./mutation/mutations.ts";
import { weightOf } from "./testing/groups.ts";

/** The tests that cover a folder. */
const TESTS: Record<string, string[]> = {
  "src/claude": ["test/claude/"],
  "src/engine": ["test/engine/"],
  "src/model": ["test/model/", "test/engine/"],
  "src/store": ["test/store/"],
  "src/worktree": ["test/worktree/"],
  "src/board": ["test/board/"],
  "src/hosts": ["test/hosts/"],
};

/** These build the package or check types: slow, and they do not test behaviour. */
const LEFT_OUT = ["test/claude/package", "test/claude/closed-types"];
/** Slow tests that repeat what others test, except for the code in one folder: they only judge mutations there. */
const FOR_ONE_FOLDER: Record<string, string> = { "test/store/postgres.test.ts": "src/store/postgres/" };
/** Enough for any test and hook on a busy machine: a timeout would count as a noticed mutation. */
const TEST_TIMEOUT_MS = 30_000;
/** Neither copied nor mutated. */
const NOT_COPIED = [".git", "node_modules", ".test-report"];

const { values } = parseArgs({
  options: {
    folder: { type: "string" },
    tests: { type: "string" },
    file: { type: "string" },
    limit: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "1" },
    tree: { type: "string", default: dirname(import.meta.dir) },
  },
});

/** Ends the test processes that are running. */
const running = new Set<() => void>();

const root = resolve(values.tree);
const folder = values.folder?.replace(/\/$/, "") ?? "";

/** A test file, its duration, and the lines it runs; unknown if it starts processes of its own. */
interface TestFile {
  path: string;
  tookMs: number;
  runs: Coverage | undefined;
}

/** A test file with such a line runs code in other processes, which its coverage report does not include. */
const STARTS_PROCESSES = /child\.ts|-process\.ts|spawn\(/;

async function main(): Promise<number> {
  const wanted = values.tests?.split(",") ?? TESTS[folder];
  if (!wanted) {
    console.error(`Usage: npm run mutate -- --folder <${Object.keys(TESTS).join("|")}>, or another one with --tests`);
    return 2;
  }
  const mutations = await findMutations();
  const chosen = sample(mutations, Number(values.limit), Number(values.seed));
  const copies = await Promise.all(Array.from({ length: Number(values.jobs) }, makeCopy));
  // At once: a test that fails because its copy is gone would count as a noticed mutation.
  const stop = () => {
    for (const end of running) end();
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
    process.exit(130);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const paths = (await testFiles(wanted)).filter((test) => chosen.some(({ path }) => isFor(test, path)));
    const tests = await measureTests(copies[0] ?? "", paths);
    console.log(`${folder}: ${chosen.length} of ${mutations.length} mutations, ${tests.length} test files\n`);
    const survivors = await judgeAll(copies, chosen, tests);
    console.log(`\n${survivors.length} survived:`);
    for (const mutation of survivors.sort(byPlace)) console.log(`  ${wordsFor(mutation)}`);
    const killed = chosen.length - survivors.length;
    console.log(`\n${folder}: ${killed} of ${chosen.length} killed, ${Math.round((100 * killed) / chosen.length)} %`);
    return 0;
  } finally {
    await removeCopies(copies);
  }
}

async function findMutations(): Promise<Mutation[]> {
  const paths = await Array.fromAsync(new Glob(`${folder}/**/*.ts`).scan({ cwd: root }));
  const wanted = paths.filter((path) => path.includes(values.file ?? "")).sort();
  const texts = new Map<string, string>();
  for (const path of wanted) texts.set(path, await readFile(join(root, path), "utf8"));
  const trees = await parse(texts);
  return [...trees].flatMap(([path, tree]) => mutationsOf(path, tree));
}

async function testFiles(parts: readonly string[]): Promise<string[]> {
  const all = await Array.fromAsync(new Glob("test/**/*.test.{ts,tsx}").scan({ cwd: root }));
  const chosen = all.filter((file) => parts.some((part) => file.includes(part)));
  const left = chosen.filter((file) => !LEFT_OUT.some((part) => file.startsWith(part)));
  return left.sort((a, b) => weightOf(a) - weightOf(b) || (a < b ? -1 : 1));
}

function isFor(test: string, path: string): boolean {
  return path.startsWith(FOR_ONE_FOLDER[test] ?? "");
}

/**
 * Runs each test file once without a mutation: it must pass, and reveals its duration and coverage. The fastest come
 * first.
 */
async function measureTests(copy: string, paths: readonly string[]): Promise<TestFile[]> {
  const files: TestFile[] = [];
  const report = join(copy, ".coverage");
  const flags = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${report}`];
  for (const path of paths) {
    const began = performance.now();
    if (!(await passes(copy, [path], 600_000, flags))) throw new Error(`${path} fails without any change.`);
    const tookMs = performance.now() - began;
    const startsProcesses = STARTS_PROCESSES.test(await readFile(join(copy, path), "utf8"));
    const lcov = startsProcesses ? undefined : await readFile(join(report, "lcov.info"), "utf8");
    files.push({ path, tookMs, runs: lcov === undefined ? undefined : readCoverage(lcov) });
  }
  return files.sort((a, b) => a.tookMs - b.tookMs);
}

/** Returns the mutations that no test noticed. */
async function judgeAll(copies: readonly string[], chosen: Mutation[], tests: TestFile[]): Promise<Mutation[]> {
  const queue = [...chosen];
  const survivors: Mutation[] = [];
  let done = 0;
  const work = async (copy: string) => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      const verdict = await judge(copy, mutation, tests);
      if (verdict !== "killed") survivors.push(mutation);
      console.log(`${++done}/${chosen.length} ${verdict}: ${wordsFor(mutation)}`);
    }
  };
  await Promise.all(copies.map(work));
  return survivors;
}

/** Runs the tests that may reach the mutation in one process, which stops at the first failure. */
async function judge(copy: string, mutation: Mutation, tests: readonly TestFile[]): Promise<string> {
  const text = await readFile(join(root, mutation.path), "utf8");
  const last = text.slice(0, mutation.end).split("\n").length;
  const mayReach = ({ path, runs }: TestFile) =>
    isFor(path, mutation.path) && (!runs || mayRun(runs, mutation.path, mutation.line, last));
  const reaching = tests.filter(mayReach);
  if (reaching.length === 0) return "NOT REACHED";
  const paths = reaching.map(({ path }) => path);
  const limitMs = 20_000 + 3 * reaching.reduce((sum, { tookMs }) => sum + tookMs, 0);
  await writeFile(join(copy, mutation.path), mutated(text, mutation));
  try {
    return (await passes(copy, paths, limitMs)) ? "SURVIVED" : "killed";
  } finally {
    await writeFile(join(copy, mutation.path), text);
  }
}

/** Runs test files. Everything they started is in their process group and ends with it. */
function passes(copy: string, paths: readonly string[], limitMs: number, flags: string[] = []): Promise<boolean> {
  const files = paths.map((path) => `./${path}`);
  const child = spawn(process.execPath, ["test", ...files, "--bail=1", `--timeout=${TEST_TIMEOUT_MS}`, ...flags], {
    cwd: copy,
    stdio: "ignore",
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // The whole group has ended.
    }
  };
  running.add(end);
  const timer = setTimeout(end, limitMs);
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      clearTimeout(timer);
      running.delete(end);
      end();
      resolve(code === 0);
    });
  });
}

async function makeCopy(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "asyncagents-mutate-"));
  for (const name of await readdir(root)) {
    if (!NOT_COPIED.includes(name)) await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function removeCopies(copies: readonly string[]): Promise<void> {
  for (const copy of copies) await rm(copy, { recursive: true, force: true });
}

function wordsFor({ path, line, change, code }: Mutation): string {
  return `${path}:${line} ${change}: ${code}`;
}

function byPlace(a: Mutation, b: Mutation): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.start - b.start;
}

process.exitCode = await main();
