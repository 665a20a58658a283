/**
 * The daemon as other processes see it: find it, start it if there is none, stop it. Any number of commands may start
 * one at the same time; the lock lets one of them live, and all of them wait for its record. Communicates with it only
 * by signals.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hasDeadDaemon, livingServers, type ServerRecord } from "../http/discovery.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { isAlive } from "../process/liveness.ts";
import { DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import { ownProgram } from "./own-program.ts";

const LOG = "daemon.log";
const START_MS = 20_000;
const LOOK_MS = 40;
const LOG_LINES = 8;
const LOG_TAIL_BYTES = 8000;
/** Variables that tell a program that it runs inside an agent's session. The daemon and its hosts do not. */
const SESSION_MARKS = [
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "OPENCODE",
  "OPENCODE_PID",
  // With the marks of our own guards, the daemon would be ended together with the agent that started it.
  "ASYNCAGENTS_CLAUDE_PROCESS",
  "ASYNCAGENTS_OPENCODE_PROCESS",
  "ASYNCAGENTS_API_ENABLED",
  DEPTH_VARIABLE,
  "OPENCODE_SERVER_USERNAME",
  "OPENCODE_SERVER_PASSWORD",
];

export type DaemonRecord = ServerRecord;

interface Ensured {
  daemon: DaemonRecord;
  /** Whether this call started it. */
  started: boolean;
}

/** The running daemon of a data folder. Null if there is none, or it does not listen yet. */
export function findDaemon(directory: string): DaemonRecord | null {
  return livingServers(directory).find(({ kind }) => kind === "daemon") ?? null;
}

/** Finds the daemon or starts one. Rejects with `daemon_unavailable` and the last lines of its log. */
export async function ensureDaemon(
  directory: string,
  options: { signal?: AbortSignal | undefined; onStart?(): void } = {},
): Promise<Ensured> {
  const running = findDaemon(directory);
  if (running) return { daemon: running, started: false };
  options.onStart?.();
  let { child, logStart } = startProcess(directory);
  const deadline = performance.now() + START_MS;
  try {
    for (;;) {
      const daemon = findDaemon(directory);
      if (daemon) return { daemon, started: daemon.pid === child.pid };
      options.signal?.throwIfAborted();
      if (child.signalCode !== null || (child.exitCode ?? 0) !== 0)
        throw didNotStart(directory, logStart, "ended at once");
      // It exited because of another daemon, which is gone already.
      if (child.exitCode === 0 && !findDaemon(directory)) ({ child, logStart } = startProcess(directory));
      if (performance.now() > deadline) {
        const wait = `did not answer within ${START_MS / 1000} s and may still be starting (pid ${child.pid}): try again`;
        throw didNotStart(directory, logStart, wait);
      }
      await pause(LOOK_MS);
    }
  } finally {
    child.unref();
  }
}

/** Finds the daemon, or starts one in place of one that died. Rejects with `daemon_unavailable` if it was stopped. */
export async function findOrRevive(
  directory: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<DaemonRecord> {
  const running = findDaemon(directory);
  if (running) return running;
  if (hasDeadDaemon(directory)) return (await ensureDaemon(directory, options)).daemon;
  throw new AsyncAgentsError("daemon_unavailable", "The daemon was stopped. Start it: asyncagents up");
}

/** Asks the daemon to end and waits until its process is gone. False if it is still alive after that time. */
export async function stopDaemon(daemon: DaemonRecord, waitMs: number): Promise<boolean> {
  if (!isAlive(daemon)) return true;
  process.kill(daemon.pid, "SIGTERM");
  for (const deadline = performance.now() + waitMs; isAlive(daemon); ) {
    if (performance.now() > deadline) return false;
    await pause(LOOK_MS);
  }
  return true;
}

/**
 * In a session and a folder of its own, so that it survives a closed terminal and a removed folder. `logStart` is where
 * its log begins: what is before that is of earlier ones.
 */
function startProcess(directory: string): { child: ChildProcess; logStart: number } {
  const log = openLogFile(directory);
  const logStart = fstatSync(log).size;
  const environment: Record<string, string | undefined> = { ...process.env, ASYNCAGENTS_HOME: directory };
  for (const mark of SESSION_MARKS) delete environment[mark];
  try {
    const child = spawn(process.execPath, ownProgram("daemon"), {
      cwd: directory,
      detached: true,
      stdio: ["ignore", log, log],
      env: environment,
    });
    return { child, logStart };
  } finally {
    closeSync(log);
  }
}

function openLogFile(directory: string): number {
  const file = join(directory, LOG);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Two starts at the same time must not rotate each other's first lines away.
    if (sizeOf(file) > 0 && Date.now() - statSync(file).mtimeMs > START_MS) renameSync(file, `${file}.1`);
    return openSync(file, "a", 0o600);
  } catch (cause) {
    const message = `The data folder ${directory} cannot be used: ${messageOf(cause)}. Set ASYNCAGENTS_HOME to a folder that you can write to.`;
    throw new AsyncAgentsError("daemon_unavailable", message, { cause });
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function didNotStart(directory: string, logStart: number, how: string): AsyncAgentsError {
  const file = join(directory, LOG);
  const lines = lastLines(file, logStart);
  const said = lines.length > 0 ? ` The end of ${file}:\n${lines.join("\n")}` : "";
  return new AsyncAgentsError("daemon_unavailable", `The daemon ${how}. Run \`asyncagents doctor\`.${said}`);
}

function lastLines(file: string, from: number): string[] {
  try {
    const tail = readFileSync(file).subarray(from).toString("utf8").slice(-LOG_TAIL_BYTES).trimEnd();
    return tail === "" ? [] : tail.split("\n").slice(-LOG_LINES);
  } catch {
    return [];
  }
}
