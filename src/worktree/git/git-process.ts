/**
 * One git process: called with an argument array, never through a shell, with its own environment, and limited in time
 * and output. Invariant: nothing that git starts outlives it, prompts a person, or fetches from another repository.
 * Does not know which config git reads, nor what the commands mean.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { AsyncAgentsError } from "../../model/errors.ts";

export interface GitRun {
  cwd: string;
  args: readonly string[];
  environment?: Record<string, string>;
  input?: string | Buffer;
  /** Milliseconds. */
  timeLimit?: number;
  /** How much output to keep; git is ended if there is more. */
  maxBytes?: number;
  /** Gets what git says about its progress and its troubles, as it comes. */
  onComplaint?(text: string): void;
  /** Ends git when it is aborted. */
  signal?: AbortSignal | undefined;
}

export interface GitAnswer {
  code: number;
  stdout: Buffer;
  stderr: string;
  /** There was more output than requested. */
  cut: boolean;
}

const TIME_LIMIT = 120_000;
const OUTPUT_LIMIT = 64 * 1024 * 1024;
const COMPLAINT_LIMIT = 4_000;

/**
 * These override every config, including the person's own: no hooks, no other repository. Anything else in a
 * repository's own config is not read at all (stand-in.ts).
 */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  // A file in the repository that git would trust about the parents of commits.
  "core.commitGraph=false",
  "core.quotePath=false",
  "protocol.allow=never",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "diff.ignoreSubmodules=dirty",
  "worktree.useRelativePaths=false",
].flatMap((setting) => ["-c", setting]);

const ENVIRONMENT = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_EDITOR: ":",
  // Show, merge and check the objects themselves, not replacements that a repository defines.
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
  // Objects that are missing in a partial clone stay missing: fetching would run what the remote's config says.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
};

const KEPT = /^GIT_(AUTHOR_|COMMITTER_|SSL_|SSH|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|EXEC_PATH$)/;

/** This process's environment without variables that would point git at another repository or index. */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith("GIT_") || KEPT.test(entry[0])),
  );
  return Object.fromEntries(entries);
}

export function runGit(run: GitRun): Promise<GitAnswer> {
  const { cwd, args, environment, input, timeLimit, maxBytes, onComplaint, signal } = run;
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  // In its own process group: what git starts ends with it, and cannot prompt on a person's terminal.
  const child = spawn("git", ["--no-pager", ...SETTINGS, ...args], {
    cwd,
    env: { ...plainEnvironment(), ...ENVIRONMENT, ...environment },
    detached: true,
  });
  const output = gathered(child, maxBytes ?? OUTPUT_LIMIT);
  if (onComplaint) child.stderr?.on("data", (part: Buffer) => onComplaint(part.toString("utf8")));
  let late = false;
  const limit = timeLimit ?? TIME_LIMIT;
  const end = () => {
    // On SIGTERM git removes its lock files; a process that ignores it is killed.
    signalGroup(child.pid, "SIGTERM");
    setTimeout(() => signalGroup(child.pid, "SIGKILL"), 2_000).unref();
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, limit);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  const settle = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  };
  child.on("error", (thrown) => {
    settle();
    reject(unavailable(cwd, thrown));
  });
  child.on("close", (code) => {
    settle();
    if (late) {
      const message = `git ${args[0]} took longer than ${limit} ms in ${cwd} and was stopped. Try again.`;
      reject(new AsyncAgentsError("git_failed", message, { details: { command: ["git", ...args] } }));
    } else resolve({ code: output.cut ? 0 : (code ?? 1), ...output });
  });
  // It may have exited without reading its input: then its own error counts, not the broken pipe.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input ?? "");
  return promise;
}

function gathered(child: ChildProcess, maxBytes: number): Omit<GitAnswer, "code"> {
  const output = { stdout: Buffer.alloc(0), stderr: "", cut: false };
  const parts: Buffer[] = [];
  let size = 0;
  child.stdout?.on("data", (part: Buffer) => {
    if (output.cut) return;
    parts.push(part.subarray(0, maxBytes - size));
    size += part.length;
    if (size <= maxBytes) return;
    output.cut = true;
    signalGroup(child.pid, "SIGKILL");
  });
  child.stdout?.on("end", () => {
    output.stdout = Buffer.concat(parts);
  });
  child.stderr?.on("data", (part: Buffer) => {
    output.stderr = (output.stderr + part.toString("utf8")).slice(-COMPLAINT_LIMIT);
  });
  return output;
}

/** Signals a detached process and everything it started. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // All processes have already exited.
  }
}

function unavailable(cwd: string, cause: Error & { code?: string }): AsyncAgentsError {
  // A missing working directory looks the same as a missing program.
  const message =
    cause.code === "ENOENT"
      ? `git could not be started in ${cwd}. Install git and put it on the PATH, and check that the folder exists.`
      : `git could not be started in ${cwd}: ${cause.message}. Check the folder and its permissions.`;
  return new AsyncAgentsError("git_unavailable", message, { cause });
}
