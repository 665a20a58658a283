/**
 * Runs git: by argument array, never through a shell, with an environment of its own, bounded in time and output.
 * Hooks and file monitors never run: an agent that may edit files could have written them, and would get rights it was
 * not given. Does not know what the commands mean.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { AsyncAgentsError } from "../model/errors.ts";

/** Where git works. */
export interface Place {
  cwd: string;
  /** Given for worktrees: the `.git` file in one is the agent's to change, so git must not look there. */
  gitDir?: string;
  workTree?: string;
}

export interface GitOptions {
  environment?: Record<string, string>;
  input?: string;
  /** Milliseconds. */
  timeLimit?: number;
  /** What is kept of the output; git is ended when there is more. */
  maxBytes?: number;
}

export interface GitAnswer {
  code: number;
  stdout: Buffer;
  stderr: string;
  /** There was more output than was asked for. */
  cut: boolean;
}

const TIME_LIMIT = 120_000;
const OUTPUT_LIMIT = 64 * 1024 * 1024;
const COMPLAINT_LIMIT = 4_000;
const OLDEST = [2, 38] as const;
const LOCK_PAUSES = [25, 50, 100, 200, 400, 800, 1_600];

const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.quotePath=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
].flatMap((setting) => ["-c", setting]);

const KEPT = /^GIT_(AUTHOR_|COMMITTER_|SSL_|SSH|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|EXEC_PATH$)/;

/** This process's environment without what would point git at another repository or index. */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith("GIT_") || KEPT.test(entry[0])),
  );
  return Object.fromEntries(entries);
}

/** The output of a command that must succeed, without the line end. */
export async function git(place: Place, args: string[], options: GitOptions = {}): Promise<string> {
  const answer = await tryGit(place, args, options);
  if (answer.code !== 0) throw gitFailure(place, args, answer);
  if (answer.cut) {
    throw new AsyncAgentsError("too_large", `git ${args[0]} in ${place.cwd} says more than can be read at once.`);
  }
  return answer.stdout.toString("utf8").replace(/\n$/, "");
}

/** The answer of a command that may fail. What another git process is in the middle of is waited for, up to three seconds. */
export async function tryGit(place: Place, args: string[], options: GitOptions = {}): Promise<GitAnswer> {
  await usableGit();
  for (const time of LOCK_PAUSES) {
    const answer = await runGit(place, args, options);
    if (!isLocked(answer) && !meetsHalfMade(answer)) return answer;
    await pause(time);
  }
  return runGit(place, args, options);
}

/** A git that failed, in words; what it said itself is part of them. */
export function gitFailure(place: Place, args: string[], answer: GitAnswer): AsyncAgentsError {
  const complaint = answer.stderr.trim() || `it ended with code ${answer.code}`;
  const advice = isLocked(answer)
    ? " Another git process holds a lock. Try again; if no git is running there, delete the lock file it names."
    : meetsHalfMade(answer)
      ? " A worktree was left half made. If no git is running there, delete the folder of that file."
      : /tell me who you are|empty ident|unable to auto-detect email/i.test(complaint)
        ? " Set your name for commits: git config --global user.name and user.email."
        : "";
  return new AsyncAgentsError("git_failed", `git ${args[0]} failed in ${place.cwd}: ${complaint}.${advice}`, {
    details: { command: ["git", ...args], exitCode: answer.code },
  });
}

function isLocked({ code, stderr }: GitAnswer): boolean {
  return code !== 0 && /Unable to create '.*\.lock': File exists|could not lock config file/.test(stderr);
}

// Git reads the entries of all worktrees, and fails over one that another process is just writing.
function meetsHalfMade({ code, stderr }: GitAnswer): boolean {
  return code !== 0 && /failed to read '?.*\/worktrees\/[^/]+\/(commondir|gitdir)/.test(stderr);
}

let checked: Promise<void> | undefined;

function usableGit(): Promise<void> {
  checked ??= checkVersion().catch((thrown) => {
    // Somebody may install it while we run.
    checked = undefined;
    throw thrown;
  });
  return checked;
}

async function checkVersion(): Promise<void> {
  const { stdout } = await runGit({ cwd: "/" }, ["version"], {});
  assertVersion(stdout.toString("utf8"));
}

/** Refuses a git that lacks what merging without a checkout needs. */
export function assertVersion(text: string): void {
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const [oldestMajor, oldestMinor] = OLDEST;
  if (Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor)) return;
  throw new AsyncAgentsError(
    "git_unavailable",
    `git ${oldestMajor}.${oldestMinor} or newer is needed, and this is "${text.trim()}". Install a newer git.`,
  );
}

function runGit(place: Place, args: string[], options: GitOptions): Promise<GitAnswer> {
  const environment = {
    ...plainEnvironment(),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: ":",
    ...(place.gitDir && { GIT_DIR: place.gitDir }),
    ...(place.workTree && { GIT_WORK_TREE: place.workTree }),
    ...options.environment,
  };
  const { promise, resolve, reject } = Promise.withResolvers<GitAnswer>();
  // In a group of its own: what git starts ends with it, and cannot ask anything on a person's terminal.
  const child = spawn("git", ["--no-pager", ...SETTINGS, ...args], {
    cwd: place.cwd,
    env: environment,
    detached: true,
  });
  const output = gathered(child, options.maxBytes ?? OUTPUT_LIMIT);
  let late = false;
  const limit = options.timeLimit ?? TIME_LIMIT;
  const timer = setTimeout(() => {
    late = true;
    // It removes its lock files when it is asked to end; what does not listen is ended for good.
    signalGroup(child.pid, "SIGTERM");
    setTimeout(() => signalGroup(child.pid, "SIGKILL"), 2_000).unref();
  }, limit);
  child.on("error", (thrown) => {
    clearTimeout(timer);
    reject(unavailable(place, thrown));
  });
  child.on("close", (code) => {
    clearTimeout(timer);
    if (late) {
      const message = `git ${args[0]} took longer than ${limit} ms in ${place.cwd} and was ended. Try again.`;
      reject(new AsyncAgentsError("git_failed", message, { details: { command: ["git", ...args] } }));
    } else resolve({ code: output.cut ? 0 : (code ?? 1), ...output });
  });
  // It may have ended without reading: then its own words count, not the broken pipe.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input ?? "");
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

/** Signals a process that was started detached, and all that it started. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // All of it has ended.
  }
}

function unavailable(place: Place, cause: Error & { code?: string }): AsyncAgentsError {
  // A missing folder to start in looks the same as a missing program.
  const message =
    cause.code === "ENOENT"
      ? `git could not be started in ${place.cwd}. Install git and put it on the PATH, and check that the folder exists.`
      : `git could not be started in ${place.cwd}: ${cause.message}. Check the folder and its permissions.`;
  return new AsyncAgentsError("git_unavailable", message, { cause });
}
