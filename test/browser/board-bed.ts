/** A real daemon with its own folders, and a real git repository for its board. */
import { afterAll, beforeAll } from "bun:test";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Client, createClient } from "../../src/client/client.ts";
import { findDaemon } from "../../src/daemon/find-daemon.ts";

const main = join(import.meta.dir, "../../src/cli/main.ts");
const START_MS = 20_000;
const HOOK_MS = 60_000;

export interface BoardBed {
  url: string;
  token: string;
  client: Client;
  /** A repository with one commit on main. */
  repo: string;
  git(...args: string[]): Promise<string>;
  /** Runs a command of the command line and returns its output. */
  cli(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Starts one that runs until the bed stops. */
  start(...args: string[]): void;
  stop(): Promise<void>;
}

/** A bed for a test file, to be called at its top, below `chromiumBed()`; ready in every later `beforeAll`. */
export function boardBed(files: Record<string, string>): BoardBed {
  const bed = {} as BoardBed;
  let stop: BoardBed["stop"] | undefined;
  beforeAll(async () => {
    const started = await startBoardBed(files);
    stop = started.stop;
    Object.assign(bed, started);
  }, HOOK_MS);
  afterAll(() => stop?.());
  return bed;
}

export async function startBoardBed(files: Record<string, string>): Promise<BoardBed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "asyncagents-board-")));
  const directory = join(root, "data");
  const repo = join(root, "green grocer ü");
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: repo })).stdout.trim();
  await mkdir(directory);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    await writeFile(join(repo, path), text);
  }
  await git("init", "-q", "-b", "main");
  for (const [name, value] of [
    ["user.name", "A person"],
    ["user.email", "person@localhost"],
  ] as const) {
    await git("config", name, value);
  }
  await git("add", "-A");
  await git("commit", "-q", "-m", "First");
  const env = { ...process.env, HOME: root, ASYNCAGENTS_HOME: directory, ASYNCAGENTS_API_PORT: "0" };
  const daemon = Bun.spawn([process.execPath, main, "daemon"], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  const cli = async (...args: string[]) => {
    const command = Bun.spawn([process.execPath, main, ...args], { cwd: repo, stdio: ["ignore", "pipe", "pipe"], env });
    const texts = [new Response(command.stdout).text(), new Response(command.stderr).text()] as const;
    const [code, out, err] = await Promise.all([command.exited, ...texts]);
    return { code, out, err };
  };
  const others: Bun.Subprocess[] = [];
  const start = (...args: string[]) => {
    others.push(
      Bun.spawn([process.execPath, main, ...args], { cwd: repo, stdio: ["ignore", "ignore", "ignore"], env }),
    );
  };
  const stop = async () => {
    for (const each of [...others, daemon]) each.kill("SIGTERM");
    await Promise.all([...others, daemon].map(({ exited }) => exited));
    await rm(root, { recursive: true, force: true });
  };
  try {
    const { url, token } = await recordOf(directory, daemon);
    return { url, token, client: createClient({ url, token }), repo, git, cli, start, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function recordOf(directory: string, daemon: Bun.Subprocess<"ignore", "ignore", "pipe">) {
  for (const deadline = Date.now() + START_MS; Date.now() < deadline && daemon.exitCode === null; ) {
    const record = findDaemon(directory);
    if (record) return record;
    await Bun.sleep(20);
  }
  daemon.kill("SIGTERM");
  throw new Error(`The daemon did not start: ${await new Response(daemon.stderr).text()}`);
}
