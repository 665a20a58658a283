import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { markedAt, rewrite } from "../../src/worktree/mark.ts";
import { merge } from "../../src/worktree/merge.ts";
import { pruneWorktrees, removeWorktrees } from "../../src/worktree/remove.ts";
import { commit, contentsOf, gitBed, isAlive, listWorktrees, refusal, sh, traceOf, write } from "./git-bed.ts";

const bed = gitBed();

function child(setup: string, ...args: string[]) {
  const command = [process.execPath, join(import.meta.dir, "child.ts"), ...args];
  return Bun.spawn(command, { env: { ...process.env, SETUP: setup }, stdout: "ignore", stderr: "pipe" });
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !isTrue(); i++) await Bun.sleep(20);
  expect(isTrue()).toBe(true);
}

/** An unused pid. */
async function deadPid(): Promise<number> {
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  return ended.pid;
}

describe("kill -9", () => {
  test("in the middle of the setup: the script ends, and everything is found and cleared", async () => {
    const repo = bed.repo();
    const outside = bed.folder();
    const [base, pidFile] = [join(outside, "base"), join(outside, "pid")];
    const before = traceOf(repo);
    const maker = child(`sleep 300 & echo $! > ${pidFile}; wait`, repo, base, "killed");
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
    expect(listWorktrees(base)).toMatchObject([{ attemptId: "killed", condition: "making" }]);
    expect(await pruneWorktrees(base)).toEqual([]);
    expect((await refusal(removeWorktrees({ base, attemptId: "killed" }))).code).toBe("worktree_busy");
    maker.kill("SIGKILL");
    await maker.exited;
    const script = Number(readFileSync(pidFile, "utf8"));
    await until(() => !isAlive(script));
    expect(listWorktrees(base)).toMatchObject([{ attemptId: "killed", condition: "unfinished" }]);
    expect(await pruneWorktrees(base)).toHaveLength(1);
    expect(traceOf(repo)).toEqual(before);
    expect(readdirSync(base)).toEqual([".marks"]);
    expect(readdirSync(outside).sort()).toEqual(["base", "pid"]);
  }, 60_000);

  test("between any two steps of creating: what exists is removed, and what is missing does no harm", async () => {
    const steps = ["mark", "branch", "git's folder without a checkout", "checkout"];
    for (const [count, step] of steps.entries()) {
      const repo = bed.repo();
      const before = traceOf(repo);
      const base = join(bed.folder(), "base");
      const made = await bed.attempt(repo, { base, attemptId: "half" });
      const marked = markedAt(made.path);
      if (!marked) throw new Error("it has no mark");
      const admin = join(repo, ".git/worktrees/project");
      const maker = { ...marked.mark.maker, pid: await deadPid(), token: "x" };
      rewrite({ ...marked, mark: { ...marked.mark, stage: "making", maker } });
      rmSync(join(admin, "asyncagents.json"));
      // Git locks what it is about to create.
      writeFileSync(join(admin, "locked"), "initializing");
      if (count < 3) rmSync(made.path, { recursive: true });
      if (count < 2) rmSync(admin, { recursive: true });
      if (count < 1) sh(repo, "update-ref", "-d", `refs/heads/${made.branch}`);
      expect([step, listWorktrees(base)[0]?.condition]).toEqual([step, "unfinished"]);
      const cleared = count % 2 ? await pruneWorktrees(base) : await removeWorktrees({ base, attemptId: "half" });
      expect([step, cleared.length, traceOf(repo)]).toEqual([step, 1, before]);
      expect(contentsOf(base)).toEqual({});
      await bed.attempt(repo, { base, attemptId: "half" });
    }
  }, 60_000);

  test("in the middle of a removal: it is continued, and unmerged commits stay on their branch", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const made = await bed.attempt(repo, { base, attemptId: "half" });
    write(made.path, "b.txt", "b");
    const head = commit(made.path, "b");
    const marked = markedAt(made.path);
    if (!marked) throw new Error("it has no mark");
    rewrite({ ...marked, mark: { ...marked.mark, stage: "removing" } });
    rmSync(join(made.path, "a.txt"));
    expect(listWorktrees(base)).toMatchObject([{ condition: "removing" }]);
    expect(await pruneWorktrees(base)).toEqual([]);
    expect(await removeWorktrees({ base, attemptId: "half" })).toMatchObject([{ branchRemoved: false }]);
    expect(existsSync(made.path)).toBe(false);
    expect(sh(repo, "rev-parse", made.branch)).toBe(head);
    expect(listWorktrees(base)).toEqual([]);
  });

  test("in the middle of a merge: its lock does not block others", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    write(made.path, "b.txt", "b");
    writeFileSync(join(repo, ".git/asyncagents.lock"), JSON.stringify({ pid: await deadPid(), token: "x" }));
    expect(await merge(made.path, { message: "b", commit: true })).toMatchObject({ changed: true, checkout: repo });
    writeFileSync(join(repo, ".git/asyncagents.lock"), "half");
    write(made.path, "c.txt", "c");
    expect(await merge(made.path, { message: "c", commit: true })).toMatchObject({ changed: true });
    const reused = { ...markedAt(made.path)?.mark.maker, pid: process.ppid, processStart: "1", token: "x" };
    writeFileSync(join(repo, ".git/asyncagents.lock"), JSON.stringify(reused));
    write(made.path, "d.txt", "d");
    expect(await merge(made.path, { message: "d", commit: true })).toMatchObject({ changed: true });
    expect(readdirSync(join(repo, ".git")).filter((name) => name.startsWith("asyncagents"))).toEqual([]);
  });
});

describe("several processes", () => {
  test("create and merge attempts on one checked-out repo at the same time", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const ids = Array.from({ length: 12 }, (_, i) => `process-${String.fromCharCode(97 + i)}`);
    const children = [0, 4, 8].map((from) => child("", repo, base, ...ids.slice(from, from + 4)));
    const complaints = await Promise.all(
      children.map(async ({ stderr, exited }) => [await new Response(stderr).text(), await exited]),
    );
    expect(complaints).toEqual(children.map(() => ["", 0]));
    expect(sh(repo, "ls-files").split("\n")).toEqual(["a.txt", ...ids]);
    expect(sh(repo, "status", "--porcelain")).toBe("");
    for (const attemptId of ids)
      expect(await removeWorktrees({ base, attemptId })).toMatchObject([{ branchRemoved: true }]);
    expect(sh(repo, "worktree", "list").split("\n")).toHaveLength(1);
  }, 120_000);
});
