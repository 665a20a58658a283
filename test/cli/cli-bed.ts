/**
 * The real command in an isolated world: its own HOME and data folder, any port, no real agent. Every daemon started
 * by a command ends with the test, by pid, even if the test dies.
 */
import { afterAll } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDaemon, stopDaemon } from "../../src/daemon/find-daemon.ts";
import { livingServers } from "../../src/http/discovery.ts";
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { root } from "../ground/repository.ts";

export const MAIN = join(root, "src", "cli", "main.ts");

export interface Said {
  code: number;
  out: string;
  err: string;
}

export interface CliWorld {
  /** The folder that contains this world. */
  folder: string;
  /** The data folder. */
  data: string;
  home: string;
  /** An empty folder to call commands in. */
  work: string;
  environment: Record<string, string>;
  /** Runs a command until it exits. */
  cli(...words: string[]): Promise<Said>;
  /** Runs it with `--json`; throws unless it exits with 0. */
  json<T = Record<string, unknown>>(...words: string[]): Promise<T>;
  /** Starts a command and leaves it running. */
  start(words: readonly string[], options?: { stdin?: string; cwd?: string }): Running;
}

export interface Running {
  readonly process: Bun.Subprocess<"pipe", "pipe", "pipe">;
  /** Resolves when stderr or stdout contains this text. */
  said(text: string): Promise<void>;
  /** What stderr and stdout contain so far. */
  text(): string;
  ended: Promise<Said>;
}

export function cliWorld(): CliWorld {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-cli-")));
  const [data, home, work] = [join(folder, "data"), join(folder, "home"), join(folder, "work")];
  for (const each of [home, work]) mkdirSync(each);
  const environment = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    ASYNCAGENTS_HOME: data,
    ASYNCAGENTS_API_PORT: "0",
    NO_COLOR: "1",
    TERM: "xterm-256color",
  };
  const watched = new Map<number, () => void>();
  const watchDaemon = () => {
    const daemon = findDaemon(data);
    if (daemon && !watched.has(daemon.pid)) watched.set(daemon.pid, attachLifeline(daemon.pid, folder));
  };
  afterAll(async () => {
    // All of them: a test may fail because there are several.
    for (const server of livingServers(data))
      if (!(await stopDaemon(server, 10_000))) process.kill(server.pid, "SIGKILL");
    for (const release of watched.values()) release();
    rmSync(folder, { recursive: true, force: true });
  });

  const start: CliWorld["start"] = (words, { stdin = "", cwd = work } = {}) => {
    const child = Bun.spawn([process.execPath, MAIN, ...words], {
      cwd,
      env: environment,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    child.stdin.write(stdin);
    child.stdin.end();
    return running(child);
  };
  const cli = async (...words: string[]) => {
    const said = await start(words).ended;
    watchDaemon();
    return said;
  };
  return {
    folder,
    data,
    home,
    work,
    environment,
    start,
    cli,
    async json(...words) {
      const said = await cli("--json", ...words);
      if (said.code !== 0) throw new Error(`asyncagents ${words.join(" ")} ended with ${said.code}: ${said.err}`);
      return JSON.parse(said.out);
    },
  };
}

function running(child: Bun.Subprocess<"pipe", "pipe", "pipe">): Running {
  const texts = { out: "", err: "" };
  const waiting: { text: string; resolve(): void }[] = [];
  const read = async (stream: ReadableStream<Uint8Array>, name: "out" | "err") => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      texts[name] += decoder.decode(chunk, { stream: true });
      for (const { text, resolve } of waiting) if (texts[name].includes(text)) resolve();
    }
  };
  const reading = Promise.all([read(child.stdout, "out"), read(child.stderr, "err")]);
  const ended = reading.then(async () => ({ code: await child.exited, ...texts }));
  const said = (text: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (texts.out.includes(text) || texts.err.includes(text)) resolve();
    waiting.push({ text, resolve });
    void ended.then((end) => reject(new Error(`ended with ${end.code} without "${text}": ${end.out}${end.err}`)));
    return promise;
  };
  return { process: child, ended, said, text: () => texts.err + texts.out };
}

/** A real repository with one commit on `main`. */
export function makeRepo(path: string): string {
  mkdirSync(path, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], { cwd: path });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "T");
  git("config", "user.email", "t@localhost");
  writeFileSync(join(path, "readme.txt"), "one\n");
  git("add", ".");
  git("commit", "-q", "-m", "one");
  return path;
}

/** What this data folder's daemons logged about their start and exit; complete once the last one has exited. */
export function daemonLives(data: string): string[] {
  return readFileSync(join(data, "asyncagents.log"), "utf8").match(/the daemon \w+/g) ?? [];
}

/** The daemons recorded there. */
export function daemonRecords(data: string): number[] {
  return readdirSync(join(data, "servers"))
    .map((name) => JSON.parse(readFileSync(join(data, "servers", name), "utf8")))
    .filter(({ kind }) => kind === "daemon")
    .map(({ pid }) => pid);
}
