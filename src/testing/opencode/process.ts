/**
 * One operating-system process of `opencode serve`: its environment, its output, and its end. Invariant: it is ended by
 * its own pid, at the latest when the test process is gone; it inherits only PATH and locale from the developer's
 * environment. Does not speak HTTP to the program.
 */

import { join } from "node:path";
import { freePort } from "../../process/free-port.ts";
import { attachLifeline } from "../lifeline.ts";
import { bounded } from "../recorder.ts";
import { openCodeBinary } from "./binary.ts";
import { modelsFile } from "./home.ts";

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | number | null;
}

export interface ProcessOutput {
  stdout: string;
  stderr: string;
}

export interface RunningOpenCode {
  url: string;
  pid: number;
  exited: Promise<ProcessExit>;
  running(): boolean;
  /** Sends the signal and waits, with a timeout, until the process is gone. */
  kill(signal: NodeJS.Signals, timeoutMs?: number): Promise<ProcessExit>;
  /** Sends SIGTERM, then SIGKILL if it has not exited in time. */
  stop(timeoutMs?: number): Promise<ProcessExit>;
}

export function cleanEnvironment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  const kept = ["PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    // Empty in `extra`, OpenCode reads the list that it brings, as people's does.
    ...(home !== "" && { OPENCODE_MODELS_PATH: modelsFile(home) }),
    ...extra,
  };
}

interface ProcessOptions {
  home: string;
  directory: string;
  /** Removed if the test process dies without stopping this one. */
  temporaryFolder: string;
  env?: Record<string, string>;
  /** The output of the process is appended here, so that it outlives the process. */
  output: ProcessOutput;
  startTimeoutMs?: number;
}

export async function startProcess(options: ProcessOptions): Promise<RunningOpenCode> {
  const { home, directory, output } = options;
  // Not `--port 0`: OpenCode reads that as "4096 if free", which the developer's own OpenCode may need.
  const command = [openCodeBinary(), "serve", "--hostname", "127.0.0.1", "--port", String(await freePort())];
  const child = Bun.spawn(command, {
    cwd: directory,
    env: cleanEnvironment(home, options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let running = true;
  const letGo = attachLifeline(child.pid, options.temporaryFolder);
  const exited = child.exited.then(() => {
    running = false;
    letGo();
    return { code: child.exitCode, signal: child.signalCode };
  });
  const listening = Promise.withResolvers<string>();
  const started = output.stdout.length;
  // A request before this line is never answered.
  collect(child.stdout, (text) => {
    output.stdout += text;
    const url = /listening on (http:\/\/\S+)/.exec(output.stdout.slice(started))?.[1];
    if (url !== undefined) listening.resolve(url);
  });
  collect(child.stderr, (text) => {
    output.stderr += text;
  });
  const kill = async (signal: NodeJS.Signals, timeoutMs = 10_000) => {
    if (running) child.kill(signal);
    return bounded(exited, timeoutMs, () => `OpenCode (pid ${child.pid}) to end after ${signal}.`);
  };
  const ended = exited.then(({ code, signal }) => {
    throw new Error(`OpenCode ended before it listened (code ${code}, signal ${signal}).\n${lastLines(output.stderr)}`);
  });
  try {
    const describe = () => `OpenCode to listen. Its output:\n${output.stdout}\n${lastLines(output.stderr)}`;
    const url = await bounded(Promise.race([listening.promise, ended]), options.startTimeoutMs ?? 60_000, describe);
    return {
      url,
      pid: child.pid,
      exited,
      running: () => running,
      kill,
      stop: (timeoutMs = 5_000) => kill("SIGTERM", timeoutMs).catch(() => kill("SIGKILL")),
    };
  } catch (error) {
    await kill("SIGKILL");
    throw error;
  } finally {
    ended.catch(() => {});
  }
}

async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, onText: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) onText(text);
}

export function lastLines(text: string, count = 15): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}

/** The end of OpenCode's own log, which all processes of a HOME share. */
export async function logTail(home: string, count = 15): Promise<string> {
  const file = Bun.file(join(home, ".local", "share", "opencode", "log", "opencode.log"));
  return (await file.exists()) ? lastLines(await file.text(), count) : "";
}
