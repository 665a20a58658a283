import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { assertVersion, git, tryGit } from "../../src/worktree/git.ts";
import { gitBed, refusal, sh } from "./git-bed.ts";

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
  test("is not led astray by the environment it is started in", async () => {
    const [repo, other] = [bed.repo(), bed.repo()];
    const astray = { GIT_DIR: join(other, ".git"), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(other, "index") };
    const root = await withEnvironment(astray, () => git({ cwd: repo }, ["rev-parse", "--show-toplevel"]));
    expect(root).toBe(repo);
  });

  test("runs no hook, which an agent could have written", async () => {
    const repo = bed.repo();
    writeFileSync(join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    expect(() => sh(repo, "commit", "--allow-empty", "-m", "by hand")).toThrow();
    await git({ cwd: repo }, ["commit", "--quiet", "--allow-empty", "-m", "ours"]);
    expect(sh(repo, "log", "-1", "--format=%s")).toBe("ours");
  });

  test("says what failed, with git's own words", async () => {
    const failure = await refusal(git({ cwd: bed.repo() }, ["rev-parse", "--verify", "nothing"]));
    expect(failure.code).toBe("git_failed");
    expect(failure.message).toContain("Needed a single revision");
  });

  test("is ended when it takes too long", async () => {
    const slow = git({ cwd: bed.repo() }, ["-c", "alias.slow=!sleep 20", "slow"], { timeLimit: 200 });
    expect((await refusal(slow)).message).toContain("took longer than 200 ms");
  }, 60_000);

  test("gives no more output than is asked for, and says so", async () => {
    const repo = bed.repo();
    const answer = await tryGit({ cwd: repo }, ["cat-file", "-p", "HEAD:a.txt"], { maxBytes: 9 });
    expect([answer.stdout.toString(), answer.cut]).toEqual(["line 1\nli", true]);
    const whole = await tryGit({ cwd: repo }, ["cat-file", "-p", "HEAD:a.txt"], { maxBytes: 71 });
    expect([whole.stdout.length, whole.cut]).toEqual([71, false]);
    expect((await refusal(git({ cwd: repo }, ["log"], { maxBytes: 5 }))).code).toBe("too_large");
  });

  test("waits for a lock that another process holds, and names one that stays", async () => {
    const repo = bed.repo();
    const lock = join(repo, ".git/index.lock");
    writeFileSync(lock, "");
    const added = git({ cwd: repo }, ["read-tree", "HEAD"]);
    setTimeout(() => rmSync(lock), 150);
    await added;
    writeFileSync(lock, "");
    const failure = await refusal(git({ cwd: repo }, ["read-tree", "HEAD"]));
    expect(failure.message).toContain("delete the lock file");
    expect(failure.message).toContain(lock);
  }, 60_000);

  test("must be there, and not too old", async () => {
    const repo = bed.repo();
    const missing = await withEnvironment({ PATH: bed.folder() }, () => refusal(git({ cwd: repo }, ["status"])));
    expect(missing.code).toBe("git_unavailable");
    expect(() => assertVersion("git version 2.37.9")).toThrow(AsyncAgentsError);
    expect(() => assertVersion("git version 1.99.0")).toThrow("2.38 or newer");
    for (const fine of ["git version 2.38.0", "git version 2.50.1 (Apple Git-155)", "git version 3.0.0"])
      assertVersion(fine);
  });
});
