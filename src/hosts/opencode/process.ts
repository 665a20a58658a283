/**
 * One process of `opencode serve`, on a free port of this machine, behind a password that only this process knows.
 * Invariant: it ends, with everything it started, when this process does, in any way. Does not restart it: `server.ts`
 * does.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";
import { within } from "../../process/deadline.ts";
import { freePort } from "../../process/free-port.ts";
import { guardProcess } from "../../process/process-guard.ts";

const MARK = "ASYNCAGENTS_OPENCODE_PROCESS";
const START_MS = 60_000;
const GRACE_MS = 2_000;
const COMPLAINT_LENGTH = 4_000;

export interface OpenCodeProcess {
  url: string;
  pid: number;
  /** Headers that every request must have. */
  headers: Record<string, string>;
  /** The same for OpenCode's own client, which reads them from its environment. */
  credentials: Record<string, string>;
  /** Resolves with how it ended, once nothing that it started is left. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

export interface OpenCodeStart {
  program: string;
  environment: Record<string, string | undefined>;
  /**
   * Where it starts; created if missing. OpenCode runs what it finds configured there and in the folders above, for
   * any request that names no directory: nobody else may be able to write there.
   */
  folder: string;
  stopping: AbortSignal;
}

export async function startOpenCodeProcess(start: OpenCodeStart): Promise<OpenCodeProcess> {
  const { program, environment, folder, stopping } = start;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [mark, password] = [crypto.randomUUID(), crypto.randomUUID()];
  const credentials = { OPENCODE_SERVER_USERNAME: "asyncagents", OPENCODE_SERVER_PASSWORD: password };
  // Not port 0, which OpenCode reads as "4096 if that is free".
  const child = spawn(program, ["serve", "--hostname", "127.0.0.1", "--port", String(await freePort())], {
    cwd: folder,
    env: {
      ...environment,
      // Our plugin inside it must not open a second status API.
      ASYNCAGENTS_API_ENABLED: "false",
      ...credentials,
      [MARK]: mark,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const sweep = child.pid === undefined ? async () => {} : guardProcess(child.pid, { name: MARK, value: mark });
  let complaint = "";
  const listening = Promise.withResolvers<string>();
  const readUrl = (text: string) => {
    const url = /listening on (http:\/\/\S+)/.exec(text)?.[1];
    if (url !== undefined) listening.resolve(url);
  };
  collect(child.stdout, readUrl);
  collect(child.stderr, (text) => {
    complaint = text;
  });
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
    child.once("error", (error) => resolve(error.message));
  });
  const end = () => signalGroup(child.pid, "SIGTERM");
  stopping.addEventListener("abort", end);
  const ended = exited.then(async (how) => {
    stopping.removeEventListener("abort", end);
    await sweep();
    return how;
  });
  const stop = async () => {
    end();
    const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
    await ended.finally(() => clearTimeout(timer));
  };
  try {
    const started = Promise.race([listening.promise, endedEarly(ended, () => complaint)]);
    const url = await within(started, { timeout: START_MS }, (ms) =>
      notStarted(`it did not listen within ${ms / 1000} s`, complaint),
    );
    const authorization = `Basic ${btoa(`asyncagents:${password}`)}`;
    return { url, pid: child.pid ?? 0, headers: { authorization }, credentials, ended, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

/** Rejects if it exits before it listens. */
async function endedEarly(ended: Promise<string>, complaint: () => string): Promise<never> {
  throw notStarted(await ended, complaint());
}

function notStarted(how: string, complaint: string): AsyncAgentsError {
  const said = complaint.trim().split("\n").slice(-3).join(" ");
  return new AsyncAgentsError("host_unavailable", `OpenCode did not start (${how}). ${said}`.trim());
}

/** Passes the end of the output so far on, whenever there is more. */
function collect(stream: NodeJS.ReadableStream, onText: (text: string) => void): void {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (more: string) => {
    text = (text + more).slice(-COMPLAINT_LENGTH);
    onText(text);
  });
}

function signalGroup(pid: number | undefined, name: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, name);
  } catch {
    // It has already exited.
  }
}
