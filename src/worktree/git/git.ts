/**
 * Runs git for a repository so that nothing in the repository can choose a program for it to run: its config is read as
 * data (stand-in.ts), and git never searches for a `.git` inside a checkout. Waits for other git processes. Does not
 * know what the commands mean.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type GitAnswer, type GitRun, runGit } from "./git-process.ts";
import { standIn } from "./stand-in.ts";

/** Where git runs. */
export interface GitLocation {
  cwd: string;
  /** Git's folder for the checkout; differs from `commonDir` only for linked worktrees. */
  gitDir: string;
  /** The folder that all worktrees of the repository share. */
  commonDir: string;
  /** Without it, commands must not need a checkout. */
  workTree?: string;
}

/** A location with a checkout. */
export type Checkout = GitLocation & { workTree: string };

type GitOptions = Pick<GitRun, "environment" | "input" | "timeLimit" | "maxBytes" | "onComplaint" | "signal">;

const OLDEST = [2, 38] as const;
const LOCATING_LIMIT = 10_000;
const LOCK_PAUSES = [25, 50, 100, 200, 400, 800, 1_600];

/** The output of a command that must succeed, without the trailing newline. */
export async function git(place: GitLocation, args: string[], options: GitOptions = {}): Promise<string> {
  const answer = await tryGit(place, args, options);
  if (answer.code !== 0) throw gitFailure(place, args, answer);
  if (answer.cut) {
    throw new AsyncAgentsError("too_large", `git ${args[0]} in ${place.cwd} has more output than can be read at once.`);
  }
  return answer.stdout.toString("utf8").replace(/\n$/, "");
}

/** The result of a command that may fail. Waits up to three seconds for locks. */
export async function tryGit(place: GitLocation, args: string[], options: GitOptions = {}): Promise<GitAnswer> {
  await usableGit();
  const environment = {
    GIT_DIR: place.gitDir,
    ...(await standIn(place)).environment,
    ...(place.workTree ? { GIT_WORK_TREE: place.workTree } : { GIT_IMPLICIT_WORK_TREE: "0" }),
    ...options.environment,
  };
  return patiently({ ...options, cwd: place.cwd, args, environment });
}

/**
 * Asks git where a repository is and which worktrees it has. Git then reads the repository's own config, so only
 * commands that run no other program are allowed: `rev-parse`, `worktree list`, `config`. They take milliseconds,
 * unless what the config includes never ends, such as a pipe.
 */
export async function askGit(cwd: string, args: string[], environment: Record<string, string> = {}) {
  await usableGit();
  return patiently({ cwd, args, environment, timeLimit: LOCATING_LIMIT }).catch((cause: unknown) => {
    if (!AsyncAgentsError.isInstance(cause) || cause.code !== "git_failed") throw cause;
    const message = `${cause.message} If it goes on, look whether a file that the repository's config includes is a pipe.`;
    throw new AsyncAgentsError("git_failed", message, { cause, details: cause.details });
  });
}

async function patiently(run: GitRun): Promise<GitAnswer> {
  for (const time of LOCK_PAUSES) {
    const answer = await runGit(run);
    if (!isLocked(answer) && !meetsHalfMade(answer)) return answer;
    await pause(time);
  }
  return runGit(run);
}

/** An error for a failed git command, including git's own message. */
export function gitFailure(
  { cwd }: Pick<GitLocation, "cwd">,
  args: readonly string[],
  answer: GitAnswer,
): AsyncAgentsError {
  const complaint = answer.stderr.trim() || `exit code ${answer.code}`;
  return new AsyncAgentsError("git_failed", `git ${args[0]} failed in ${cwd}: ${complaint}.${adviceOn(answer)}`, {
    details: { command: ["git", ...args], exitCode: answer.code },
  });
}

function adviceOn(answer: GitAnswer): string {
  if (isLocked(answer)) {
    return " Another git process holds a lock. Try again; if no git is running there, delete the lock file it names.";
  }
  if (meetsHalfMade(answer)) {
    return " A worktree was left incomplete. If no git is running there, delete the folder of that file.";
  }
  if (/tell me who you are|empty ident|unable to auto-detect email/i.test(answer.stderr)) {
    return " Set your name for commits: git config --global user.name and user.email.";
  }
  if (/unable to read|missing (blob|tree)|bad object/i.test(answer.stderr)) {
    return " In a partial clone, fetch what is missing by hand first, for example: git fetch --refetch --no-filter.";
  }
  return "";
}

function isLocked({ code, stderr }: GitAnswer): boolean {
  return code !== 0 && /Unable to create '.*\.lock': File exists|could not lock config file/.test(stderr);
}

// Git reads the entries of all worktrees, and fails on one that another process is writing.
function meetsHalfMade({ code, stderr }: GitAnswer): boolean {
  return code !== 0 && /failed to read '?.*\/worktrees\/[^/]+\/(commondir|gitdir)/.test(stderr);
}

let checked: Promise<void> | undefined;

function usableGit(): Promise<void> {
  checked ??= checkVersion().catch((thrown) => {
    // Git may be installed later.
    checked = undefined;
    throw thrown;
  });
  return checked;
}

async function checkVersion(): Promise<void> {
  const { stdout } = await runGit({ cwd: "/", args: ["version"] });
  assertVersion(stdout.toString("utf8"));
}

/** Rejects a git that cannot merge without a checkout. */
export function assertVersion(text: string): void {
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const [oldestMajor, oldestMinor] = OLDEST;
  if (Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor)) return;
  throw new AsyncAgentsError(
    "git_unavailable",
    `git ${oldestMajor}.${oldestMinor} or newer is needed, and this is "${text.trim()}". Install a newer git.`,
  );
}
