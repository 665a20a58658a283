import { describe, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { diffOf, mergedDiffOf } from "../../src/worktree/diff.ts";
import { merge } from "../../src/worktree/merge.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, gitBed, refusal, sh, tenLines, write } from "./git-bed.ts";

const bed = gitBed();
const maxBytes = 100_000;

describe("the diff of an attempt", () => {
  test("contains what is committed, staged, changed and untracked, and no ignored or copied files", async () => {
    const repo = bed.repo();
    write(repo, ".gitignore", "*.log\n");
    commit(repo, "ignore");
    write(repo, ".env", "SECRET");
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", copy: [".env"] }] });
    write(made.path, "committed.txt", "1\n");
    commit(made.path, "by the agent");
    sh(made.path, "rm", "--quiet", "--cached", ".env");
    sh(made.path, "commit", "--quiet", "--amend", "--no-edit");
    write(made.path, "staged.txt", "1\n2\n");
    sh(made.path, "add", "staged.txt");
    write(made.path, "a.txt", tenLines({ 3: "changed" }));
    write(made.path, "neu ü.txt", "1\n2\n3\n");
    write(made.path, "x.log", "ignored");
    const diff = await diffOf(made.path, { maxBytes });
    expect(diff.files.map(({ path, insertions, deletions }) => [path, insertions, deletions])).toEqual([
      ["a.txt", 1, 1],
      ["committed.txt", 1, 0],
      ["neu ü.txt", 3, 0],
      ["staged.txt", 2, 0],
    ]);
    expect(diff).toMatchObject({ fileCount: 4, insertions: 7, deletions: 1, cut: null, incomplete: null });
    expect(diff.baseCommit).toBe(made.baseCommit);
    expect(diff.text).toContain("-line 3\n+changed\n");
    expect(diff.text).toContain("+++ b/neu ü.txt");
    expect(diff.text).not.toContain("SECRET");
    expect(await worktreeStateOf(made.path)).toMatchObject({ uncommitted: ["a.txt", "staged.txt", "neu ü.txt"] });
  });

  test("changes neither the index nor the repository", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    write(made.path, "new.txt", "new");
    write(made.path, "a.txt", "changed");
    const seen = () => [
      readFileSync(join(sh(made.path, "rev-parse", "--absolute-git-dir"), "index"), "hex"),
      readdirSync(join(repo, ".git/objects"), { recursive: true }).sort(),
      sh(made.path, "--no-optional-locks", "status", "--porcelain"),
    ];
    const before = seen();
    expect((await diffOf(made.path, { maxBytes })).fileCount).toBe(2);
    await worktreeStateOf(made.path);
    expect(seen()).toEqual(before);
  });

  test("contains a file of the same size that was written in the second of the checkout", async () => {
    const repo = bed.repo();
    const secondOf = (path: string) => Math.floor(statSync(join(path, "a.txt")).ctimeMs / 1000);
    for (;;) {
      const made = await bed.attempt(repo);
      const checkedOut = secondOf(made.path);
      write(made.path, "a.txt", tenLines({ 3: "LINE 3" }));
      if (secondOf(made.path) !== checkedOut) continue;
      // The index is older than its copy: only then can git be fooled.
      await Bun.sleep(1000);
      expect(await diffOf(made.path, { maxBytes })).toMatchObject({ fileCount: 1, insertions: 1, deletions: 1 });
      return;
    }
  });

  test("only names binary files, and follows moved and deleted ones", async () => {
    const repo = bed.repo();
    write(repo, "gone.txt", "x\n");
    commit(repo, "more");
    const made = await bed.attempt(repo);
    writeFileSync(join(made.path, "picture"), Buffer.from([0, 1, 2, 0, 255]));
    renameSync(join(made.path, "a.txt"), join(made.path, "b.txt"));
    rmSync(join(made.path, "gone.txt"));
    const diff = await diffOf(made.path, { maxBytes });
    expect(diff.files).toEqual([
      { path: "b.txt", from: "a.txt", insertions: 0, deletions: 0, binary: false, shown: "whole" },
      { path: "gone.txt", from: null, insertions: 0, deletions: 1, binary: false, shown: "whole" },
      { path: "picture", from: null, insertions: 0, deletions: 0, binary: true, shown: "whole" },
    ]);
    expect(diff.text).toContain("Binary files /dev/null and b/picture differ");
  });

  test("is cut at a line, and says where", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    for (const name of ["b", "c", "d"]) write(made.path, name, `diff --git not a heading\n${"ä\n".repeat(200)}`);
    const whole = await diffOf(made.path, { maxBytes });
    const cut = await diffOf(made.path, { maxBytes: 1_500 });
    expect(cut.cut).toEqual({ bytes: Buffer.byteLength(cut.text), file: "c", filesLeft: 1 });
    expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(1_500);
    expect(cut.text).toEndWith("\n");
    expect(whole.text).toStartWith(cut.text);
    expect(cut).toMatchObject({ fileCount: 3, insertions: 603 });
    const named = cut.files.map(({ path, insertions, shown }) => [path, insertions, shown]);
    expect(named).toEqual([
      ["b", 201, "whole"],
      ["c", 201, "part"],
      ["d", 201, "none"],
    ]);
    expect((await diffOf(made.path, { maxBytes: 1_500, maxFiles: 1 })).files.map(({ path }) => path)).toEqual(["b"]);
    expect(await diffOf(made.path, { maxBytes: 0 })).toMatchObject({
      text: "",
      cut: { bytes: 0, file: null, filesLeft: 3 },
    });
    expect((await diffOf(made.path, { maxBytes: Buffer.byteLength(whole.text) })).cut).toBeNull();
    expect((await refusal(diffOf(made.path, { maxBytes: -1 }))).code).toBe("invalid_input");
  });

  test("knows which file was cut, even after one that became a link, which git shows as two", async () => {
    const made = await bed.attempt(bed.repo());
    rmSync(join(made.path, "a.txt"));
    symlinkSync("elsewhere", join(made.path, "a.txt"));
    for (const name of ["b", "c"]) write(made.path, name, "x\n".repeat(1_000));
    const { cut, files } = await diffOf(made.path, { maxBytes: 1_500 });
    expect(cut).toMatchObject({ file: "b", filesLeft: 1 });
    expect(files.map(({ path, shown }) => `${path} ${shown}`)).toEqual(["a.txt whole", "b part", "c none"]);
  });

  test("says what git could not read", async () => {
    const made = await bed.attempt(bed.repo());
    mkdirSync(join(made.path, "inner"));
    sh(join(made.path, "inner"), "init", "--quiet");
    write(made.path, "b.txt", "b\n");
    const diff = await diffOf(made.path, { maxBytes });
    expect(diff.incomplete).toContain("inner");
    expect(diff.files.map(({ path }) => path)).toEqual(["b.txt"]);
  });

  test("does not trust the .git file, which the agent can change", async () => {
    const [made, other] = [await bed.attempt(bed.repo()), bed.repo()];
    const trap = join(bed.folder(), "trapped");
    sh(other, "config", "filter.trap.clean", `touch ${trap}; cat`);
    sh(other, "config", "core.fsmonitor", `touch ${trap}; true`);
    write(made.path, ".git", `gitdir: ${join(other, ".git")}\n`);
    write(made.path, ".gitattributes", "* filter=trap\n");
    write(made.path, "b.txt", "b\n");
    sh(made.path, "add", "b.txt");
    expect(await Bun.file(trap).exists()).toBe(true);
    rmSync(trap);
    expect((await diffOf(made.path, { maxBytes })).files.map(({ path }) => path)).toEqual([".gitattributes", "b.txt"]);
    expect(await Bun.file(trap).exists()).toBe(false);
  });

  test("only works for our own worktrees", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    for (const path of [repo, bed.folder(), "relative", join(made.path, ".."), join(made.path, "..", "other")]) {
      expect((await refusal(diffOf(path, { maxBytes }))).code).toBe("worktree_not_ours");
    }
    rmSync(made.path, { recursive: true });
    expect((await refusal(diffOf(made.path, { maxBytes }))).code).toBe("worktree_not_found");
  });
});

describe("the diff of a merge", () => {
  for (const squash of [false, true]) {
    test(`is what the attempt added, and not what others did meanwhile, ${squash ? "squashed" : "with its history"}`, async () => {
      const repo = bed.repo();
      const made = await bed.attempt(repo);
      write(made.path, "mine.txt", "1\n");
      commit(made.path, "by the agent");
      write(made.path, "a.txt", tenLines({ 9: "mine" }));
      write(repo, "a.txt", tenLines({ 1: "theirs" }));
      commit(repo, "by somebody else");
      const merged = await merge(made.path, { message: "merge", squash, commit: true });
      const diff = await mergedDiffOf(repo, merged.commit, { maxBytes });
      expect(diff.files.map(({ path, insertions, deletions }) => [path, insertions, deletions])).toEqual([
        ["a.txt", 1, 1],
        ["mine.txt", 1, 0],
      ]);
      expect(diff.text).toContain("+mine\n");
      expect(diff.text).not.toContain("+theirs");
      expect((await mergedDiffOf(repo, merged.commit, { maxBytes: 200 })).cut).toMatchObject({ file: "a.txt" });
    });
  }

  test("needs the commit and the repository", async () => {
    const repo = bed.repo();
    const never = "0123456789".repeat(4);
    const refused = async (path: string) => (await refusal(mergedDiffOf(path, never, { maxBytes }))).code;
    expect([await refused(repo), await refused(bed.folder())]).toEqual(["worktree_not_found", "repo_invalid"]);
    expect(await refused(join(repo, "gone"))).toBe("repo_invalid");
  });
});

describe("the state of an attempt", () => {
  test("counts commits on both sides", async () => {
    const repo = bed.repo();
    const made = await bed.attempt(repo);
    const fresh = await worktreeStateOf(made.path);
    expect(fresh).toEqual({
      branch: made.branch,
      head: made.baseCommit,
      uncommitted: [],
      uncommittedCount: 0,
      hasTarget: true,
      aheadOfBase: 0,
      aheadOfTarget: 0,
      behindTarget: 0,
      merged: false,
    });
    write(made.path, "b.txt", "b");
    const head = commit(made.path, "b");
    write(repo, "c.txt", "c");
    commit(repo, "c");
    expect(await worktreeStateOf(made.path)).toMatchObject({ head, aheadOfBase: 1, aheadOfTarget: 1, behindTarget: 1 });
    sh(repo, "merge", "--quiet", "--no-edit", made.branch);
    expect(await worktreeStateOf(made.path)).toMatchObject({ aheadOfTarget: 0, merged: true, behindTarget: 2 });
    sh(made.path, "switch", "--quiet", "--detach");
    sh(repo, "branch", "--move", "main", "trunk");
    expect(await worktreeStateOf(made.path)).toMatchObject({ branch: null, hasTarget: false, merged: false });
  });
});
