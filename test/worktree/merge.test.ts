import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commitAll } from "../../src/worktree/changes.ts";
import { checkMerge, merge } from "../../src/worktree/merge.ts";
import { ownedAt } from "../../src/worktree/owned.ts";
import { removeWorktrees } from "../../src/worktree/remove.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, gitBed, refusal, sh, tenLines, traceOf, write } from "./git-bed.ts";

const bed = gitBed();
const message = "Do it\n\n-- for good";

/** A repo whose main is not checked out anywhere. */
function parkedRepo(): string {
  const repo = bed.repo();
  sh(repo, "switch", "--quiet", "--create", "parked");
  return repo;
}

async function attemptWith(repo: string, path: string, text: string) {
  const made = await bed.attempt(repo);
  write(made.path, path, text);
  commit(made.path, `change ${path}`);
  return made;
}

describe("a merge", () => {
  test("moves a branch that is not checked out, and touches no checkout", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "b.txt", "b");
    write(repo, "c.txt", "dirty");
    const merged = await merge(made.path, { into: "main", message });
    const tip = sh(repo, "rev-parse", "main");
    expect(merged).toEqual({ into: "main", commit: tip, changed: true, landed: tip, checkout: null, hooksNotRun: [] });
    expect(sh(repo, "log", "-1", "--format=%B%P", "main")).toBe(
      `${message}\n${made.baseCommit} ${sh(repo, "rev-parse", made.branch)}`,
    );
    expect(readdirSync(repo).sort()).toEqual([".git", "a.txt", "c.txt"]);
    expect(sh(repo, "branch", "--show-current")).toBe("parked");
    expect(await worktreeStateOf(made.path)).toMatchObject({ merged: true });
    expect(await merge(made.path, { into: "main", message })).toMatchObject({ changed: false, commit: merged.commit });
  });

  test("fast-forwards a clean checkout of the target, and leaves untracked files alone", async () => {
    const repo = bed.repo();
    const made = await attemptWith(repo, "b.txt", "b");
    write(repo, "mine.txt", "untracked");
    expect(await merge(made.path, { message })).toMatchObject({ into: "main", changed: true, checkout: repo });
    expect(readFileSync(join(repo, "b.txt"), "utf8")).toBe("b");
    expect(sh(repo, "status", "--porcelain")).toBe("?? mine.txt");
    expect(sh(repo, "log", "-1", "--format=%s")).toBe("Do it");
  });

  test("is rejected while a git process works in the worktree, and says which file shows it", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    write(made.path, "b.txt", "b");
    const lock = join(sh(made.path, "rev-parse", "--absolute-git-dir"), "index.lock");
    writeFileSync(lock, "");
    const refused = await refusal(merge(made.path, { message, commit: true }));
    expect([refused.code, refused.message]).toEqual(["worktree_busy", expect.stringContaining(lock)]);
    rmSync(lock);
    await merge(made.path, { message, commit: true });
    expect(sh(repo, "ls-tree", "--name-only", "main").split("\n")).toContain("b.txt");
  });

  test("that cannot write to git's folder says why, and does not blame another git process", async () => {
    const made = await bed.attempt(bed.repo());
    write(made.path, "b.txt", "b");
    const owned = ownedAt(made.path);
    // Someone removes git's entry for the worktree meanwhile.
    rmSync(owned.adminFolder, { recursive: true });
    await expect(commitAll(owned, message)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("names five of the files that are in its way, and counts the others", async () => {
    const made = await bed.attempt(parkedRepo());
    for (const name of "bcdefgh") write(made.path, name, "x");
    expect((await refusal(merge(made.path, { message }))).message).toContain("(b, c, d, e, f and 2 more)");
  });

  test("names the hooks that were not run, wherever the config says that they are", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "b.txt", "b");
    const home = process.env.HOME ?? "";
    for (const [folder, path, hook] of [
      [home, "~/own hooks", "pre-commit"],
      [repo, ".husky", "commit-msg"],
    ] as const) {
      write(folder, join(path.replace("~/", ""), hook), "#!/bin/sh\n");
      chmodSync(join(folder, path.replace("~/", ""), hook), 0o755);
      sh(repo, "config", "core.hooksPath", path);
      expect((await merge(made.path, { message })).hooksNotRun).toEqual([hook]);
    }
  });

  test("is rejected if the checkout is dirty, or has a file in the way", async () => {
    const repo = bed.repo();
    const made = await attemptWith(repo, "b.txt", "b");
    write(repo, "a.txt", "dirty");
    const before = traceOf(repo);
    const dirty = await refusal(merge(made.path, { message }));
    expect([dirty.code, dirty.message]).toEqual(["worktree_busy", expect.stringContaining("Commit or stash")]);
    expect(dirty.details).toEqual({ checkout: repo, paths: ["a.txt"] });
    expect(traceOf(repo)).toEqual(before);
    sh(repo, "checkout", "--quiet", "a.txt");
    write(repo, "b.txt", "in the way");
    const inTheWay = await refusal(merge(made.path, { message }));
    expect([inTheWay.code, inTheWay.message]).toEqual(["worktree_busy", expect.stringContaining("b.txt")]);
    expect(readFileSync(join(repo, "b.txt"), "utf8")).toBe("in the way");
    expect(sh(repo, "rev-parse", "main")).toBe(made.baseCommit);
  });

  test("is rejected while the target is in the middle of a rebase", async () => {
    const repo = bed.repo();
    const made = await attemptWith(repo, "b.txt", "b");
    sh(repo, "branch", "other");
    write(repo, "a.txt", "x\n");
    const tip = commit(repo, "x");
    expect(() => sh(repo, "rebase", "--quiet", "--exec", "false", "HEAD^")).toThrow();
    const refused = await refusal(merge(made.path, { message }));
    expect([refused.code, refused.message]).toEqual(["worktree_busy", expect.stringContaining("rebase")]);
    expect(sh(repo, "rev-parse", "main")).toBe(tip);
    expect(await merge(made.path, { into: "other", message })).toMatchObject({ changed: true });
  });

  test("reports conflicts with their files, and changes nothing", async () => {
    for (const repo of [bed.repo(), parkedRepo()]) {
      const made = await attemptWith(repo, "a.txt", tenLines({ 5: "theirs" }));
      write(made.path, "fine.txt", "x");
      commit(made.path, "fine");
      const here = sh(repo, "branch", "--show-current");
      sh(repo, "switch", "--quiet", "main");
      write(repo, "a.txt", tenLines({ 5: "ours" }));
      commit(repo, "ours");
      sh(repo, "switch", "--quiet", here);
      const before = traceOf(repo);
      const refused = await refusal(merge(made.path, { message }));
      expect([refused.code, refused.details]).toEqual(["merge_conflict", { files: ["a.txt"] }]);
      expect(refused.message).toContain(made.path);
      expect(traceOf(repo)).toEqual(before);
      expect(sh(made.path, "status", "--porcelain")).toBe("");
    }
  });

  test("rejects uncommitted work, and commits it on request, without the copied files", async () => {
    const repo = parkedRepo();
    write(repo, ".env", "SECRET");
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", copy: [".env"] }] });
    write(made.path, "b.txt", "b");
    write(made.path, "a.txt", "changed\n");
    const refused = await refusal(merge(made.path, { message }));
    expect([refused.code, refused.details]).toEqual(["worktree_dirty", { paths: ["a.txt", "b.txt"] }]);
    expect(sh(repo, "rev-parse", "main")).toBe(made.baseCommit);
    await merge(made.path, { message, commit: true });
    expect(sh(repo, "ls-tree", "-r", "--name-only", "main")).toBe("a.txt\nb.txt");
    expect(sh(made.path, "status", "--porcelain")).toBe("?? .env");
    expect(sh(made.path, "log", "-1", "--format=%B")).toBe(message);
  });

  test("never commits only part of the work", async () => {
    const made = await bed.attempt(parkedRepo());
    write(made.path, "inner/x", "x");
    sh(join(made.path, "inner"), "init", "--quiet");
    const empty = await refusal(merge(made.path, { message, commit: true }));
    expect([empty.code, empty.message]).toEqual(["worktree_dirty", expect.stringContaining("inner")]);
    commit(join(made.path, "inner"), "x");
    const nested = await refusal(merge(made.path, { message, commit: true }));
    expect([nested.code, nested.message]).toEqual(["worktree_dirty", expect.stringContaining("inner")]);
    expect(sh(made.path, "status", "--porcelain")).toBe("?? inner/");
  });

  test("does not commit a conflict that an agent left unresolved", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "a.txt", tenLines({ 5: "theirs" }));
    write(repo, "a.txt", tenLines({ 5: "ours" }));
    commit(repo, "ours");
    expect(() => sh(made.path, "merge", "--quiet", "parked")).toThrow();
    const refused = await refusal(merge(made.path, { message, commit: true }));
    expect([refused.code, refused.message]).toEqual(["worktree_dirty", expect.stringContaining("conflicts")]);
  });

  test("as a squash is one commit, can be followed by another, and counts as merged", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "a.txt", tenLines({ 5: "one" }));
    write(made.path, "b.txt", "b");
    commit(made.path, "b");
    const squash = await merge(made.path, { message, squash: true });
    expect(sh(repo, "log", "--format=%H", "main")).toBe(`${squash.commit}\n${made.baseCommit}`);
    expect(await worktreeStateOf(made.path)).toMatchObject({ merged: true, aheadOfTarget: 2 });
    // The same line again: git alone would report a conflict.
    write(made.path, "a.txt", tenLines({ 5: "two" }));
    commit(made.path, "again");
    expect(await worktreeStateOf(made.path)).toMatchObject({ merged: false });
    expect(() => sh(repo, "merge-tree", "--write-tree", "main", made.branch)).toThrow();
    const second = await merge(made.path, { message: "Again", squash: true });
    expect(sh(repo, "log", "--format=%s", "main")).toBe("Again\nDo it\nfirst");
    expect(sh(repo, "show", "main:a.txt")).toBe(tenLines({ 5: "two" }).trim());
    expect(await merge(made.path, { message, squash: true })).toMatchObject({ changed: false, commit: second.commit });
    // The target changes the same line: what was squashed still counts as merged.
    sh(repo, "switch", "--quiet", "main");
    write(repo, "a.txt", tenLines({ 5: "three" }));
    commit(repo, "three");
    expect(await worktreeStateOf(made.path)).toMatchObject({ merged: true });
    const again = await merge(made.path, { message, squash: true });
    expect(again).toMatchObject({ changed: false, commit: sh(repo, "rev-parse", "main"), landed: second.commit });
    sh(repo, "reset", "--quiet", "--hard", made.baseCommit);
    expect(await worktreeStateOf(made.path)).toMatchObject({ merged: false });
  });

  test("of ten attempts at once merges all of them", async () => {
    for (const repo of [bed.repo(), parkedRepo()]) {
      const names = Array.from({ length: 10 }, (_, i) => `file-${i}`);
      const made = [];
      for (const name of names) made.push(await attemptWith(repo, name, name));
      await Promise.all(made.map(({ path }, i) => merge(path, { message: `merge ${i}`, squash: i % 2 === 0 })));
      expect(sh(repo, "ls-tree", "--name-only", "main").split("\n")).toEqual(["a.txt", ...names]);
      expect(sh(repo, "status", "--porcelain")).toBe("");
    }
  }, 120_000);

  test("into a branch that someone else moves meanwhile keeps their commit, and ours follows it", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "b.txt", "b");
    const theirs = sh(repo, "commit-tree", "main^{tree}", "-p", "main", "-m", "theirs");
    // Our git, except that main is moved just before the first commit of the merge.
    const bin = bed.folder();
    const moved = join(bin, "moved");
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const move = `[ -e '${moved}' ] || { : >'${moved}'; '${real}' --git-dir='${repo}/.git' update-ref refs/heads/main ${theirs}; }`;
    const lines = ["#!/bin/sh", `case " $* " in *" commit-tree "*) ${move};; esac`, `exec '${real}' "$@"`];
    writeFileSync(join(bin, "git"), `${lines.join("\n")}\n`, { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${bin}:${PATH}`;
    const merged = await merge(made.path, { into: "main", message }).finally(() => {
      process.env.PATH = PATH;
    });
    expect(existsSync(moved)).toBe(true);
    expect(sh(repo, "rev-parse", "main")).toBe(merged.commit);
    expect(sh(repo, "log", "-1", "--format=%P", "main").split(" ")).toEqual([
      theirs,
      sh(repo, "rev-parse", made.branch),
    ]);
  });

  test("validates its input", async () => {
    const repo = parkedRepo();
    const made = await attemptWith(repo, "b.txt", "b");
    expect((await refusal(merge(made.path, { message: " \n" }))).code).toBe("invalid_input");
    expect((await refusal(merge(made.path, { message: "a\0b" }))).code).toBe("invalid_input");
    expect((await refusal(merge(made.path, { message, into: made.branch }))).code).toBe("invalid_input");
    for (const into of ["nothing", "--all", "HEAD", "a b"]) {
      expect((await refusal(merge(made.path, { message, into }))).code).toBe("branch_not_found");
    }
    sh(made.path, "switch", "--quiet", "--create", "elsewhere");
    expect((await refusal(merge(made.path, { message }))).message).toContain("branch elsewhere");
    expect((await refusal(merge(repo, { message }))).code).toBe("worktree_not_ours");
    expect(sh(repo, "rev-parse", "main")).toBe(made.baseCommit);
  });

  test("allows cleaning up: merged work is removed with its branch", async () => {
    const repo = bed.repo();
    for (const squash of [false, true]) {
      const made = await attemptWith(repo, `${squash}.txt`, "x");
      const request = { base: join(made.path, "../.."), attemptId: made.attemptId };
      expect((await refusal(removeWorktrees(request))).code).toBe("worktree_unmerged");
      await merge(made.path, { message, squash });
      expect(await removeWorktrees(request)).toMatchObject([{ branchRemoved: true }]);
      expect(existsSync(made.path)).toBe(false);
    }
    expect(sh(repo, "branch", "--format=%(refname:short)")).toBe("main");
    expect(sh(repo, "ls-files")).toBe("a.txt\nfalse.txt\ntrue.txt");
  });
});

describe("the check before a merge", () => {
  const all = { message, commit: true };

  test("accepts what can be merged, with uncommitted work, and leaves no trace", async () => {
    const repo = bed.repo();
    const made = await attemptWith(repo, "b.txt", "b");
    write(made.path, "c.txt", "c");
    const before = [traceOf(repo), traceOf(made.path), sh(repo, "count-objects")];
    await checkMerge(made.path, all);
    await checkMerge(made.path, { ...all, squash: true });
    expect([traceOf(repo), traceOf(made.path), sh(repo, "count-objects")]).toEqual(before);
    await merge(made.path, { ...all, squash: true });
    // After a squash, it uses the same merge base as the merge itself.
    write(made.path, "b.txt", "b again");
    await checkMerge(made.path, all);
    expect(await merge(made.path, all)).toMatchObject({ changed: true });
    await checkMerge(made.path, all);
  });

  test("rejects what the merge would reject, including conflicts of uncommitted work", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    write(made.path, "a.txt", tenLines({ 3: "ours" }));
    expect((await refusal(checkMerge(made.path, { message }))).code).toBe("worktree_dirty");
    write(repo, "a.txt", tenLines({ 3: "theirs" }));
    expect((await refusal(checkMerge(made.path, all))).code).toBe("worktree_busy");
    commit(repo, "theirs");
    const before = [traceOf(repo), traceOf(made.path), sh(repo, "count-objects")];
    const refused = await refusal(checkMerge(made.path, all));
    expect(refused).toMatchObject({ code: "merge_conflict", details: { files: ["a.txt"] } });
    expect([traceOf(repo), traceOf(made.path), sh(repo, "count-objects")]).toEqual(before);
    sh(made.path, "init", "--quiet", "nested");
    write(made.path, "nested/x", "x");
    commit(join(made.path, "nested"), "x");
    expect((await refusal(checkMerge(made.path, all))).code).toBe("worktree_dirty");
  });
});
