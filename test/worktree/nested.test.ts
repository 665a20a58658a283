import { describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkMerge, merge } from "../../src/worktree/merge.ts";
import { pruneWorktrees, removeWorktrees } from "../../src/worktree/remove.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, gitBed, refusal, sh, traceOf, write } from "./git-bed.ts";

const bed = gitBed();
const request = { message: "Do it", commit: true };
const FILE = ["-c", "protocol.file.allow=always"];

/** A repo with the submodule `lib`, an attempt with it checked out, and the remote of the submodule. */
async function withSubmodule() {
  const origin = join(bed.folder(), "lib.git");
  sh(bed.folder(), "clone", "--quiet", "--bare", bed.repo(), origin);
  const repo = bed.repo();
  sh(repo, ...FILE, "submodule", "--quiet", "add", origin, "lib");
  commit(repo, "with a submodule");
  const made = await bed.attempt(repo);
  sh(made.path, ...FILE, "submodule", "--quiet", "update", "--init");
  const lib = join(made.path, "lib");
  sh(lib, "switch", "--quiet", "main");
  return { repo, made, lib, removal: { base: join(made.path, "../.."), attemptId: made.attemptId } };
}

describe("a submodule of an attempt", () => {
  for (const isCommitted of [false, true]) {
    test(`with commits that exist nowhere else is not merged${isCommitted ? ", even if the agent committed it" : ""}`, async () => {
      const { repo, made, lib, removal } = await withSubmodule();
      write(lib, "b.txt", "b");
      const only = commit(lib, "only here");
      if (isCommitted) commit(made.path, "use it");
      const before = traceOf(repo);
      for (const refused of [
        await refusal(checkMerge(made.path, request)),
        await refusal(merge(made.path, request)),
        await refusal(merge(made.path, { ...request, squash: true })),
      ]) {
        expect(refused.code).toBe("worktree_unmerged");
        expect(refused.message).toContain(`its commit ${only.slice(0, 12)} exists only in this worktree`);
      }
      expect(traceOf(repo)).toEqual(before);
      sh(lib, "push", "--quiet", "origin", "main");
      await merge(made.path, request);
      await removeWorktrees(removal);
      expect(existsSync(made.path)).toBe(false);
      sh(repo, ...FILE, "submodule", "--quiet", "update", "--remote");
      expect([sh(repo, "rev-parse", "main:lib"), sh(join(repo, "lib"), "rev-parse", "HEAD")]).toEqual([only, only]);
    }, 30_000);
  }

  test("may be moved to a commit that the person has", async () => {
    const { repo, made, lib } = await withSubmodule();
    write(join(repo, "lib"), "c.txt", "c");
    const own = commit(join(repo, "lib"), "the person's");
    sh(join(repo, "lib"), "push", "--quiet", "origin", "HEAD:refs/heads/side");
    sh(repo, "submodule", "--quiet", "update", "--no-fetch");
    sh(join(repo, "lib"), "branch", "side", own);
    sh(lib, "fetch", "--quiet", join(repo, ".git/modules/lib"), "side");
    sh(lib, "checkout", "--quiet", own);
    rmSync(join(sh(lib, "rev-parse", "--absolute-git-dir"), "FETCH_HEAD"));
    await merge(made.path, request);
    expect(sh(repo, "rev-parse", "main:lib")).toBe(own);
  }, 30_000);

  test("with uncommitted changes is not merged or removed, and counts as uncommitted", async () => {
    const { made, lib, removal } = await withSubmodule();
    expect((await worktreeStateOf(made.path)).uncommitted).toEqual([]);
    write(lib, "new.txt", "x");
    write(lib, "a.txt", "changed");
    expect((await worktreeStateOf(made.path)).uncommitted).toEqual(["lib/a.txt", "lib/new.txt"]);
    const refused = await refusal(merge(made.path, request));
    expect([refused.code, refused.message]).toEqual(["worktree_dirty", expect.stringContaining("lib/a.txt")]);
    expect((await refusal(removeWorktrees(removal))).code).toBe("worktree_dirty");
  }, 30_000);

  test("keeps its commits when someone deletes the folder of the worktree", async () => {
    const { made, lib, removal } = await withSubmodule();
    write(lib, "b.txt", "b");
    const only = commit(lib, "only here");
    const gitDir = sh(lib, "rev-parse", "--absolute-git-dir");
    rmSync(made.path, { recursive: true });
    expect(await pruneWorktrees(removal.base)).toEqual([]);
    const refused = await refusal(removeWorktrees(removal));
    expect([refused.code, refused.message]).toEqual(["worktree_unmerged", expect.stringContaining(only.slice(0, 12))]);
    expect(sh(gitDir, `--git-dir=${gitDir}`, "--work-tree=.", "cat-file", "-t", only)).toBe("commit");
    expect(await removeWorktrees({ ...removal, force: true })).toMatchObject([{ branchRemoved: true }]);
    expect(existsSync(gitDir)).toBe(false);
  }, 30_000);

  test("keeps the commits of a submodule inside it, too", async () => {
    const { made, lib, removal } = await withSubmodule();
    sh(lib, ...FILE, "submodule", "--quiet", "add", bed.repo(), "inner");
    commit(lib, "with a submodule of its own");
    sh(lib, "push", "--quiet", "origin", "main");
    write(join(lib, "inner"), "b.txt", "b");
    const only = commit(join(lib, "inner"), "only here");
    rmSync(made.path, { recursive: true });
    const refused = await refusal(removeWorktrees(removal));
    expect([refused.code, refused.message]).toEqual(["worktree_unmerged", expect.stringContaining(only.slice(0, 12))]);
  }, 30_000);
});

describe("a repository in an ignored folder of an attempt", () => {
  async function withIgnored() {
    const repo = bed.repo();
    write(repo, ".gitignore", "deps/\n");
    commit(repo, "ignore");
    const made = await bed.attempt(repo);
    const dep = join(made.path, "deps/dep");
    const origin = join(bed.folder(), "dep.git");
    sh(bed.folder(), "clone", "--quiet", "--bare", bed.repo(), origin);
    sh(bed.folder(), "clone", "--quiet", origin, dep);
    return { made, dep, removal: { base: join(made.path, "../.."), attemptId: made.attemptId } };
  }

  test("is removed with it if its remote has everything", async () => {
    const { made, removal } = await withIgnored();
    await merge(made.path, request);
    await removeWorktrees(removal);
    expect(existsSync(made.path)).toBe(false);
  });

  const kinds: Record<string, (dep: string) => void> = {
    "a commit": (dep) => {
      write(dep, "b.txt", "b");
      commit(dep, "b");
    },
    "a branch": (dep) => {
      sh(dep, "switch", "--quiet", "--create", "side");
      sh(dep, "commit", "--quiet", "--allow-empty", "-m", "side");
      sh(dep, "switch", "--quiet", "main");
    },
    "a stash": (dep) => {
      write(dep, "a.txt", "b");
      sh(dep, "stash");
    },
    "a commit without a branch": (dep) => {
      sh(dep, "switch", "--quiet", "--detach");
      sh(dep, "commit", "--quiet", "--allow-empty", "-m", "loose");
      sh(dep, "switch", "--quiet", "main");
    },
  };
  for (const [kind, make] of Object.entries(kinds)) {
    test(`keeps the worktree with ${kind} that exists nowhere else, and does not prevent the merge`, async () => {
      const { made, dep, removal } = await withIgnored();
      make(dep);
      write(made.path, "work.txt", "work");
      await merge(made.path, request);
      const refused = await refusal(removeWorktrees(removal));
      expect([refused.code, refused.message]).toEqual(["worktree_unmerged", expect.stringContaining("deps/dep")]);
      expect(existsSync(dep)).toBe(true);
      await removeWorktrees({ ...removal, force: true });
      expect(existsSync(made.path)).toBe(false);
    });
  }
});

test.each([
  ["in a folder that is called like one of git's own", "objects/dep", []],
  ["whose git folder is named by a file with other line ends", "dep", ["--separate-git-dir", "store/dep"]],
] as const)("a repository %s keeps its commits", async (_, inside, options) => {
  const repo = bed.repo();
  write(repo, ".gitignore", "objects/\ndep/\nstore/\n");
  commit(repo, "ignore");
  const made = await bed.attempt(repo);
  const dep = join(made.path, inside);
  write(made.path, "store/.keep", "");
  sh(made.path, "init", "--quiet", ...options, dep);
  write(dep, "b.txt", "b");
  commit(dep, "only here");
  if (options.length > 0) write(dep, ".git", `gitdir: ${join(made.path, "store/dep")}\r\n`);
  const refused = await refusal(removeWorktrees({ base: join(made.path, "../.."), attemptId: made.attemptId }));
  expect([refused.code, refused.message]).toEqual(["worktree_unmerged", expect.stringContaining(inside)]);
  expect(sh(dep, "log", "--format=%s")).toBe("only here");
});

test("a submodule that git cannot read is neither merged nor removed", async () => {
  const { made, lib, removal } = await withSubmodule();
  writeFileSync(join(sh(lib, "rev-parse", "--absolute-git-dir"), "index"), "not an index");
  for (const refused of [await refusal(merge(made.path, request)), await refusal(removeWorktrees(removal))])
    expect([refused.code, refused.message]).toEqual(["worktree_dirty", expect.stringContaining("lib")]);
  expect(existsSync(join(lib, "a.txt"))).toBe(true);
});

test("copied files that git ignores do not prevent a merge, and are not part of it", async () => {
  const repo = bed.repo();
  write(repo, ".gitignore", ".env\nlocal/\n");
  commit(repo, "ignore");
  for (const name of [".env", "local/settings", "seen.txt"]) write(repo, name, "secret");
  const copy = [".env", "local/**", "seen.txt"];
  const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", copy }] });
  expect(made.copied.toSorted()).toEqual([".env", "local/settings", "seen.txt"]);
  write(made.path, ".env", "changed");
  write(made.path, "work.txt", "work");
  await checkMerge(made.path, request);
  await merge(made.path, request);
  expect(sh(repo, "ls-tree", "-r", "--name-only", "main").split("\n")).toEqual([".gitignore", "a.txt", "work.txt"]);
});
