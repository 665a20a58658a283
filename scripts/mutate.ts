/**
 * Measures how much the tests notice: changes the code in one small place at a time, runs the tests of that folder, and prints
 * the share of changes that made one fail, with those that did not. Works in a temporary copy, never in the tree itself.
 * `npm run mutate -- --folder src/claude [--tests PART,…] [--file PART] [--limit 40] [--seed 1] [--jobs 1] [--tree DIRECTORY]`
 */
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { parse } from "../test/ground/syntax.ts";
import { weightOf } from "./lanes.ts";
import { type Mutation, mutated, mutationsOf, sample } from "./mutations.ts";

/** The tests that speak for a folder. */
const TESTS: Record<string, string[]> = {
  "src/claude": ["test/claude/"],
  "src/engine": ["test/engine/"],
  "src/model": ["test/model/", "test/engine/"],
  "src/store": ["test/store/"],
  "src/worktree": ["test/worktree/"],
  "src/board": ["test/board/"],
  "src/hosts": ["test/hosts/"],
};

/** These build the package, check types or start a database: slow, and no measure of behaviour. */
const LEFT_OUT = ["test/claude/package", "test/claude/closed-types", "test/store/postgres"];
/** Neither copied nor changed. */
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

const root = resolve(values.tree);
const folder = values.folder?.replace(/\/$/, "") ?? "";

/** A test file, and how long it may take. */
interface TestFile {
  path: string;
  limitMs: number;
}

async function main(): Promise<number> {
  const wanted = values.tests?.split(",") ?? TESTS[folder];
  if (!wanted) {
    console.error(`Usage: npm run mutate -- --folder <${Object.keys(TESTS).join("|")}>, or another one with --tests`);
    return 2;
  }
  const mutations = await findMutations();
  const chosen = sample(mutations, Number(values.limit), Number(values.seed));
  const copies = await Promise.all(Array.from({ length: Number(values.jobs) }, makeCopy));
  const stop = () => void removeCopies(copies).finally(() => process.exit(130));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const tests = await measureTests(copies[0] ?? "", await testFiles(wanted));
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

/** Runs each once without a change: it must pass, and its time sets the limit. The fastest come first. */
async function measureTests(copy: string, paths: readonly string[]): Promise<TestFile[]> {
  const files: TestFile[] = [];
  for (const path of paths) {
    const began = performance.now();
    if (!(await passes(copy, { path, limitMs: 600_000 }))) throw new Error(`${path} fails without any change.`);
    const tookMs = performance.now() - began;
    files.push({ path, limitMs: 3 * tookMs + 20_000 });
  }
  return files.sort((a, b) => a.limitMs - b.limitMs);
}

/** Gives those that no test noticed. */
async function judgeAll(copies: readonly string[], chosen: Mutation[], tests: TestFile[]): Promise<Mutation[]> {
  const queue = [...chosen];
  const survivors: Mutation[] = [];
  let done = 0;
  const work = async (copy: string) => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      const noticedBy = await judge(copy, mutation, tests);
      if (noticedBy === undefined) survivors.push(mutation);
      const verdict = noticedBy === undefined ? "SURVIVED" : `killed by ${basename(noticedBy)}`;
      console.log(`${++done}/${chosen.length} ${verdict}: ${wordsFor(mutation)}`);
    }
  };
  await Promise.all(copies.map(work));
  return survivors;
}

async function judge(copy: string, mutation: Mutation, tests: readonly TestFile[]): Promise<string | undefined> {
  const text = await readFile(join(root, mutation.path), "utf8");
  await writeFile(join(copy, mutation.path), mutated(text, mutation));
  try {
    for (const test of tests) if (!(await passes(copy, test))) return test.path;
    return undefined;
  } finally {
    await writeFile(join(copy, mutation.path), text);
  }
}

/** Runs one test file. What it started is in its process group, and ends with it. */
function passes(copy: string, { path, limitMs }: TestFile): Promise<boolean> {
  const child = spawn(process.execPath, ["test", `./${path}`, "--bail=1"], {
    cwd: copy,
    stdio: "ignore",
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // All of it has ended.
    }
  };
  const timer = setTimeout(end, limitMs);
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      clearTimeout(timer);
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
