import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { assertVersion, git, tryGit } from "../../src/worktree/git/git.ts";
import { inspectRepo } from "../../src/worktree/git/repo.ts";
import { gitBed, placeOf, refusal, sh } from "./git-bed.ts";

const bed = gitBed();

async function withEnvironment<T>(settings: Record<string, string>, use: () => Promise<T>): Promise<T> {
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  try {
    return await use();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

describe("git", () => {
  test("is not misled by its environment", async () => {
    const [repo, other] = [bed.repo(), bed.repo()];
    const astray = { GIT_DIR: join(other, ".git"), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(other, "index") };
    const root = await withEnvironment(astray, () => git(placeOf(repo), ["rev-parse", "--show-toplevel"]));
    expect(root).toBe(repo);
  });

  test("reads no config from its environment", async () => {
    const repo = bed.repo();
    const canary = join(bed.folder(), "canary");
    const settings = {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "alias.canary",
      GIT_CONFIG_VALUE_0: `!touch ${canary}`,
    };
    await withEnvironment({ ...settings, GIT_EXTERNAL_DIFF: "false" }, async () => {
      expect((await tryGit(placeOf(repo), ["canary"])).code).not.toBe(0);
      sh(repo, "canary");
    });
    expect(existsSync(canary)).toBe(true);
    rmSync(canary);
    await withEnvironment(settings, () => tryGit(placeOf(repo), ["canary"]));
    expect(existsSync(canary)).toBe(false);
  });

  test("uses what a repository's config says about files and people, and that of a worktree", async () => {
    const repo = bed.repo();
    sh(repo, "config", "user.name", 'Quoted "\\ name');
    sh(repo, "config", "core.autocrlf", "input");
    sh(repo, "config", "alias.canary", "!touch canary");
    const read = (key: string) => tryGit(placeOf(repo), ["config", key]);
    expect((await read("user.name")).stdout.toString()).toBe('Quoted "\\ name\n');
    expect((await read("core.autocrlf")).stdout.toString()).toBe("input\n");
    expect((await read("alias.canary")).code).toBe(1);
    sh(repo, "sparse-checkout", "set", "nothing");
    expect((await read("core.sparseCheckout")).stdout.toString()).toBe("true\n");
    sh(repo, "config", "user.name", "Another");
    expect((await read("user.name")).stdout.toString()).toBe("Another\n");
  });

  test("runs no hooks, which an agent could have written", async () => {
    const repo = bed.repo();
    writeFileSync(join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    expect(() => sh(repo, "commit", "--allow-empty", "-m", "by hand")).toThrow();
    await git(placeOf(repo), ["commit", "--quiet", "--allow-empty", "-m", "ours"]);
    expect(sh(repo, "log", "-1", "--format=%s")).toBe("ours");
  });

  test("says what failed, with git's own words", async () => {
    const failure = await refusal(git(placeOf(bed.repo()), ["rev-parse", "--verify", "nothing"]));
    expect(failure.code).toBe("git_failed");
    expect(failure.message).toContain("Needed a single revision");
  });

  test("is stopped when it takes too long", async () => {
    const slow = git(placeOf(bed.repo()), ["-c", "alias.slow=!sleep 20", "slow"], { timeLimit: 200 });
    expect((await refusal(slow)).message).toContain("took longer than 200 ms");
  }, 60_000);

  test("is killed when it ignores that it is stopped", async () => {
    const deaf = "alias.deaf=!trap '' TERM; while :; do sleep 1; done";
    const slow = git(placeOf(bed.repo()), ["-c", deaf, "deaf"], { timeLimit: 200 });
    expect((await refusal(slow)).message).toContain("took longer than 200 ms");
  }, 60_000);

  test("returns no more output than requested, and says so", async () => {
    const repo = bed.repo();
    const answer = await tryGit(placeOf(repo), ["cat-file", "-p", "HEAD:a.txt"], { maxBytes: 9 });
    expect([answer.stdout.toString(), answer.cut]).toEqual(["line 1\nli", true]);
    const whole = await tryGit(placeOf(repo), ["cat-file", "-p", "HEAD:a.txt"], { maxBytes: 71 });
    expect([whole.stdout.length, whole.cut]).toEqual([71, false]);
    expect((await refusal(git(placeOf(repo), ["log"], { maxBytes: 5 }))).code).toBe("too_large");
  });

  test("waits for a lock of another process, and names one that stays", async () => {
    const repo = bed.repo();
    const lock = join(repo, ".git/index.lock");
    writeFileSync(lock, "");
    const added = git(placeOf(repo), ["read-tree", "HEAD"]);
    setTimeout(() => rmSync(lock), 150);
    await added;
    writeFileSync(lock, "");
    const failure = await refusal(git(placeOf(repo), ["read-tree", "HEAD"]));
    expect(failure.message).toContain("delete the lock file");
    expect(failure.message).toContain(lock);
  }, 60_000);

  test("must be installed, and not too old", async () => {
    const repo = bed.repo();
    const missing = await withEnvironment({ PATH: bed.folder() }, () => refusal(git(placeOf(repo), ["status"])));
    expect(missing.code).toBe("git_unavailable");
    expect(() => assertVersion("git version 2.37.9")).toThrow(AsyncAgentsError);
    expect(() => assertVersion("git version 1.99.0")).toThrow("2.38 or newer");
    for (const fine of ["git version 2.38.0", "git version 2.50.1 (Apple Git-155)", "git version 3.0.0"])
      assertVersion(fine);
  });
});

test("looking for a repository does not wait long for a config that includes a pipe", async () => {
  const repo = bed.repo();
  const pipe = join(bed.folder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  sh(repo, "config", "include.path", pipe);
  const refused = await refusal(inspectRepo(repo));
  expect(refused).toMatchObject({ code: "git_failed", message: expect.stringContaining("is a pipe") });
}, 30_000);
