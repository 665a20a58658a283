/**
 * Real repositories in a folder of the test file: `const bed = gitBed()` at its top. Ignores the machine's settings.
 */
import { afterAll, beforeAll } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { conditionOf } from "../../src/worktree/condition.ts";
import type { GitLocation } from "../../src/worktree/git/git.ts";
import { type MadeWorktree, makeWorktrees } from "../../src/worktree/make.ts";
import { marksIn } from "../../src/worktree/mark.ts";

export interface GitBed {
  /** A new folder with real paths. */
  folder(): string;
  /** A repository with `a.txt` (ten lines) committed on main. */
  repo(name?: string): string;
  /** One worktree for one repo. */
  attempt(repo: string, request?: Partial<Parameters<typeof makeWorktrees>[0]>): Promise<MadeWorktree>;
}

export function gitBed(): GitBed {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-worktree-")));
  const settings = {
    HOME: root,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: join(root, "gitconfig"),
    GIT_AUTHOR_NAME: undefined,
    GIT_AUTHOR_EMAIL: undefined,
    GIT_COMMITTER_NAME: undefined,
    GIT_COMMITTER_EMAIL: undefined,
  };
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  beforeAll(() => {
    writeFileSync(settings.GIT_CONFIG_GLOBAL, "[user]\n\tname = Test\n\temail = test@example.com\n");
    setAll(Object.entries(settings));
  });
  afterAll(() => {
    setAll(before);
    rmSync(root, { recursive: true, force: true });
  });
  let count = 0;
  const folder = () => {
    const path = join(root, String(++count));
    mkdirSync(path);
    return path;
  };
  return {
    folder,
    repo(name = "project") {
      const path = join(folder(), name);
      mkdirSync(path);
      sh(path, "init", "--quiet", "--initial-branch=main");
      write(path, "a.txt", tenLines());
      commit(path, "first");
      return path;
    },
    async attempt(repo, request = {}) {
      const made = await makeWorktrees({
        attemptId: crypto.randomUUID(),
        base: join(folder(), "base"),
        name: "Try it",
        repos: [{ path: repo, targetBranch: "main" }],
        ...request,
      });
      return made[0] as MadeWorktree;
    },
  };
}

/** Where our git runs for a repository of the bed. */
export function placeOf(repo: string): GitLocation {
  const gitDir = join(repo, ".git");
  return { cwd: repo, gitDir, commonDir: gitDir, workTree: repo };
}

/** What a git that was killed leaves: nobody can change or delete that branch. */
export function lockBranch({ gitDir, branch }: { gitDir: string; branch: string }): void {
  const lock = join(gitDir, "refs", "heads", `${branch}.lock`);
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(lock, "");
}

/** Git as a person runs it. */
export function sh(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

export function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

export function commit(folder: string, message: string): string {
  sh(folder, "add", "--all");
  sh(folder, "commit", "--quiet", "--message", message);
  return sh(folder, "rev-parse", "HEAD");
}

export function tenLines(change: Record<number, string> = {}): string {
  return Array.from({ length: 10 }, (_, i) => `${change[i + 1] ?? `line ${i + 1}`}\n`).join("");
}

/** Every file below a folder with its content, except git's own. */
export function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.includes("/.git/"));
  return Object.fromEntries(paths.sort().map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}

/** What git and the disk show about a repository: branches, worktrees, changes. */
export function traceOf(repo: string): string[] {
  return [sh(repo, "for-each-ref"), sh(repo, "worktree", "list", "--porcelain"), sh(repo, "status", "--porcelain")];
}

/** The error that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<AsyncAgentsError> {
  const thrown = await promise.then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );
  if (AsyncAgentsError.isInstance(thrown)) return thrown;
  throw thrown;
}

function setAll(entries: Iterable<readonly [string, string | undefined]>): void {
  for (const [name, value] of entries) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Whether the process runs; one that has ended and was not waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** All worktrees in a base folder that have our mark, and what became of them. */
export function listWorktrees(base: string) {
  return marksIn(base).map((marked) => ({
    path: marked.path,
    attemptId: marked.mark.attemptId,
    condition: conditionOf(marked),
  }));
}
