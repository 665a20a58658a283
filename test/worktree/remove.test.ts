import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeWorktrees } from "../../src/worktree/make.ts";
import { readMark } from "../../src/worktree/mark.ts";
import { pruneWorktrees, removeWorktrees } from "../../src/worktree/remove.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, contentsOf, gitBed, listWorktrees, refusal, sh, traceOf, write } from "./git-bed.ts";

const bed = gitBed();

/** An attempt on a repo, and the request to remove it. */
async function stage(names = ["project"]) {
  const repos = names.map((name) => bed.repo(name));
  const outside = bed.folder();
  write(outside, "precious", "x");
  const base = join(outside, "base");
  const before = repos.map(traceOf);
  const request = { base, attemptId: "the attempt" };
  const made = await makeWorktrees({
    ...request,
    name: "x",
    repos: repos.map((path) => ({ path, targetBranch: "main" })),
  });
  const [path = "", repo = "", branch = ""] = [made[0]?.path, repos[0], made[0]?.branch];
  return { repos, repo, base, outside, before, request, made, path, branch };
}

const conditions = (base: string) => listWorktrees(base).map(({ condition }) => condition);

describe("removing an attempt", () => {
  test("leaves nothing of it, and everything else unchanged", async () => {
    const { repos, base, outside, before, request, made } = await stage(["one", "two"]);
    const other = await bed.attempt(repos[0] ?? "", { base, attemptId: "other" });
    write(other.path, "work.txt", "work");
    write(dirname(made[0]?.path ?? ""), "../stranger/file", "not ours");
    const removed = await removeWorktrees(request);
    expect(removed.map(({ path, branchRemoved }) => [path, branchRemoved])).toEqual(
      made.map(({ path }) => [path, true]),
    );
    expect(conditions(base)).toEqual(["ready"]);
    expect(contentsOf(outside)).toMatchObject({ precious: "x", "base/stranger/file": "not ours" });
    expect(contentsOf(other.path)).toMatchObject({ "work.txt": "work" });
    expect(existsSync(dirname(made[0]?.path ?? ""))).toBe(false);
    expect(await removeWorktrees(request)).toEqual([]);
    await removeWorktrees({ base, attemptId: "other", force: true });
    expect(repos.map(traceOf)).toEqual(before);
  });

  test("rejects uncommitted work of any kind, in any of its repos, and then removes none", async () => {
    const { request, made, repos } = await stage(["one", "two"]);
    const second = made[1]?.path ?? "";
    const trace = repos.map(traceOf);
    const kinds = [
      () => write(second, "new.txt", "x"),
      () => write(second, "a.txt", "x"),
      () => rmSync(join(second, "a.txt")),
    ];
    for (const change of kinds) {
      change();
      for (const keepBranch of [false, true]) {
        const refused = await refusal(removeWorktrees({ ...request, keepBranch }));
        expect([refused.code, refused.message]).toEqual(["worktree_dirty", expect.stringContaining("force: true")]);
      }
      expect(repos.map(traceOf)).toEqual(trace);
      sh(second, "checkout", "--quiet", "--", ".");
      sh(second, "clean", "--quiet", "-fd");
    }
    write(second, "new.txt", "x");
    expect(await removeWorktrees({ ...request, force: true })).toHaveLength(2);
  });

  test("rejects unmerged commits, even on a detached head, unless the branch is kept", async () => {
    const { repo, request, path, branch } = await stage();
    write(path, "b.txt", "b");
    const head = commit(path, "b");
    expect((await refusal(removeWorktrees(request))).code).toBe("worktree_unmerged");
    sh(path, "switch", "--quiet", "--detach");
    write(path, "c.txt", "c");
    const loose = commit(path, "c");
    expect((await refusal(removeWorktrees({ ...request, keepBranch: true }))).code).toBe("worktree_unmerged");
    sh(path, "switch", "--quiet", branch);
    // Only the reflog of this checkout still lists the commit.
    const lost = await refusal(removeWorktrees({ ...request, keepBranch: true }));
    expect([lost.code, lost.message]).toEqual(["worktree_unmerged", expect.stringContaining(`branch <name> ${loose}`)]);
    sh(repo, "branch", "rescued", loose);
    expect(await removeWorktrees({ ...request, keepBranch: true })).toMatchObject([{ branchRemoved: false }]);
    expect(sh(repo, "rev-parse", branch)).toBe(head);
    expect(existsSync(path)).toBe(false);
  });

  test("recognizes work that someone else merged or squashed", async () => {
    for (const how of [["--no-edit"], ["--squash"]]) {
      const { repo, request, path, branch } = await stage();
      write(path, "b.txt", "b");
      commit(path, "b");
      write(path, "c.txt", "c");
      commit(path, "c");
      sh(repo, "merge", "--quiet", ...how, branch);
      if (how[0] === "--squash") commit(repo, "squashed");
      expect(await removeWorktrees(request)).toMatchObject([{ branchRemoved: true }]);
    }
  });

  test("with force removes everything, but respects a lock and a checkout of the branch elsewhere", async () => {
    const { repo, request, path, branch } = await stage();
    write(path, "b.txt", "b");
    const head = commit(path, "b");
    write(path, "c.txt", "c");
    sh(repo, "worktree", "lock", "--reason", "do not touch", path);
    const refused = await refusal(removeWorktrees({ ...request, force: true }));
    expect([refused.code, refused.message]).toEqual(["worktree_busy", expect.stringContaining("do not touch")]);
    sh(repo, "worktree", "unlock", path);
    sh(path, "switch", "--quiet", "--detach");
    sh(repo, "switch", "--quiet", branch);
    expect(await removeWorktrees({ ...request, force: true })).toMatchObject([{ branchRemoved: false }]);
    expect(sh(repo, "rev-parse", "HEAD")).toBe(head);
    expect(existsSync(path)).toBe(false);
  });
});

describe("a mark", () => {
  test("that was copied elsewhere gives no rights there", async () => {
    const { base, made, path } = await stage();
    const copy = join(bed.folder(), "base");
    cpSync(base, copy, { recursive: true });
    expect(conditions(copy)).toEqual(["foreign"]);
    const request = { base: copy, attemptId: "the attempt", force: true };
    expect((await refusal(removeWorktrees(request))).code).toBe("worktree_not_ours");
    expect(await pruneWorktrees(copy)).toEqual([]);
    expect(contentsOf(copy)).toEqual(contentsOf(base));
    expect(conditions(base)).toEqual(["ready"]);
    expect(readMark(path)?.attemptId).toBe(made[0]?.attemptId ?? "");
  });

  test("gives none to a worktree that a person created in the same folder", async () => {
    const { repo, base, request, path } = await stage();
    sh(repo, "worktree", "remove", path);
    sh(repo, "worktree", "add", "--quiet", "-b", "mine", path);
    expect(conditions(base)).toEqual(["foreign"]);
    expect((await refusal(removeWorktrees({ ...request, force: true }))).code).toBe("worktree_not_ours");
    expect(await pruneWorktrees(base)).toEqual([]);
    expect(readdirSync(path)).toContain("a.txt");
  });

  test("gives none to what a link leads to", async () => {
    const parts = [(path: string) => path, dirname];
    for (const part of parts) {
      const { base, request, path } = await stage();
      const elsewhere = join(bed.folder(), "elsewhere");
      renameSync(part(path), elsewhere);
      symlinkSync(elsewhere, part(path));
      const before = contentsOf(elsewhere);
      expect(conditions(base)).toEqual(["foreign"]);
      expect((await refusal(worktreeStateOf(path))).code).toBe("worktree_not_found");
      expect((await refusal(removeWorktrees({ ...request, force: true }))).code).toBe("worktree_not_ours");
      expect(contentsOf(elsewhere)).toEqual(before);
    }
  });

  test("that is damaged, or named for a path outside, is not a mark", async () => {
    const { base, outside, path } = await stage();
    const [name = ""] = readdirSync(join(base, ".marks"));
    cpSync(join(base, ".marks", name), join(base, ".marks", "..__...json"));
    cpSync(join(base, ".marks", name), join(base, ".marks", "a__..json"));
    expect(listWorktrees(base).map((listed) => listed.path)).toEqual([path]);
    write(join(base, ".marks"), name, "{ half");
    expect(listWorktrees(base)).toEqual([]);
    expect(await removeWorktrees({ base, attemptId: "the attempt", force: true })).toEqual([]);
    expect(existsSync(path)).toBe(true);
    expect(contentsOf(outside)).toMatchObject({ precious: "x" });
    expect(listWorktrees(join(outside, "nothing"))).toEqual([]);
  });
});

describe("a folder that someone deleted", () => {
  test("is reported missing, and pruned with git's entry and the branch", async () => {
    const { repos, base, before, path } = await stage();
    const strangers = join(bed.folder(), "gone");
    sh(repos[0] ?? "", "worktree", "add", "--quiet", "--detach", strangers);
    const withStranger = sh(repos[0] ?? "", "worktree", "list", "--porcelain");
    rmSync(strangers, { recursive: true });
    rmSync(dirname(path), { recursive: true });
    expect(conditions(base)).toEqual(["missing"]);
    expect(await pruneWorktrees(base)).toMatchObject([{ path, branchRemoved: true }]);
    expect(listWorktrees(base)).toEqual([]);
    // Another person's entry stays, even if its folder is gone.
    expect(withStranger).toContain(strangers);
    expect(sh(repos[0] ?? "", "worktree", "list", "--porcelain")).toContain(strangers);
    sh(repos[0] ?? "", "worktree", "prune");
    expect(repos.map(traceOf)).toEqual(before);
  });

  test("leaves its unmerged branch, until it is removed by force", async () => {
    const { repo, base, request, path, branch } = await stage();
    write(path, "b.txt", "b");
    const head = commit(path, "b");
    rmSync(path, { recursive: true });
    expect(await pruneWorktrees(base)).toEqual([]);
    expect((await refusal(removeWorktrees(request))).code).toBe("worktree_unmerged");
    expect(sh(repo, "rev-parse", branch)).toBe(head);
    expect(await removeWorktrees({ ...request, force: true })).toMatchObject([{ branchRemoved: true }]);
    expect(listWorktrees(base)).toEqual([]);
  });

  test("may be the repository: then only force removes what is left", async () => {
    const { repo, base, request, path } = await stage();
    rmSync(repo, { recursive: true });
    expect(conditions(base)).toEqual(["repo_missing"]);
    expect((await refusal(removeWorktrees(request))).code).toBe("worktree_unmerged");
    expect(await pruneWorktrees(base)).toEqual([]);
    expect(await removeWorktrees({ ...request, force: true })).toHaveLength(1);
    expect(existsSync(path)).toBe(false);
    mkdirSync(path, { recursive: true });
    expect(await removeWorktrees({ ...request, force: true })).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });
});
