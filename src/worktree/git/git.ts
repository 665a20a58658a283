/**
 * Runs git for a repository in a way that nothing in the repository can choose a program for it to run: its config is read
 * as data (stand-in.ts), and a `.git` inside of a checkout is never looked for. What another git process is in the
 * middle of is waited for. Does not know what the commands mean.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type GitAnswer, type GitRun, runGit } from "./git-process.ts";
import { standIn } from "./stand-in.ts";

/** Where git works. */
export interface Place {
  cwd: string;
  /** Git's folder for the checkout; the same as `commonDir` but for linked worktrees. */
  gitDir: string;
  /** What all worktrees of the repository share. */
  commonDir: string;
  /** Without it, commands must not need a checkout. */
  workTree?: string;
}

/** A place with a checkout. */
export type Checkout = Place & { workTree: string };

export type GitOptions = Pick<GitRun, "environment" | "input" | "timeLimit" | "maxBytes">;

const OLDEST = [2, 38] as const;
const LOCK_PAUSES = [25, 50, 100, 200, 400, 800, 1_600];

/** The output of a command that must succeed, without the line end. */
export async function git(place: Place, args: string[], options: GitOptions = {}): Promise<string> {
  const answer = await tryGit(place, args, options);
  if (answer.code !== 0) throw gitFailure(place, args, answer);
  if (answer.cut) {
    throw new AsyncAgentsError("too_large", `git ${args[0]} in ${place.cwd} says more than can be read at once.`);
  }
  return answer.stdout.toString("utf8").replace(/\n$/, "");
}

/** The answer of a command that may fail. Locks are waited for, up to three seconds. */
export async function tryGit(place: Place, args: string[], options: GitOptions = {}): Promise<GitAnswer> {
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
 * Asks git where a repository is and which worktrees it has. Git reads the repository's own config for it, so only questions
 * that make it run nothing may be asked: `rev-parse`, `worktree list`, `config`.
 */
export async function askGit(cwd: string, args: string[], environment: Record<string, string> = {}) {
  await usableGit();
  return patiently({ cwd, args, environment });
}

async function patiently(run: GitRun): Promise<GitAnswer> {
  for (const time of LOCK_PAUSES) {
    const answer = await runGit(run);
    if (!isLocked(answer) && !meetsHalfMade(answer)) return answer;
    await pause(time);
  }
  return runGit(run);
}

/** A git that failed, in words; what it said itself is part of them. */
export function gitFailure({ cwd }: Pick<Place, "cwd">, args: readonly string[], answer: GitAnswer): AsyncAgentsError {
  const complaint = answer.stderr.trim() || `it ended with code ${answer.code}`;
  return new AsyncAgentsError("git_failed", `git ${args[0]} failed in ${cwd}: ${complaint}.${adviceOn(answer)}`, {
    details: { command: ["git", ...args], exitCode: answer.code },
  });
}

function adviceOn(answer: GitAnswer): string {
  if (isLocked(answer)) {
    return " Another git process holds a lock. Try again; if no git is running there, delete the lock file it names.";
  }
  if (meetsHalfMade(answer)) {
    return " A worktree was left half made. If no git is running there, delete the folder of that file.";
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
  const { stdout } = await runGit({ cwd: "/", args: ["version"] });
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
