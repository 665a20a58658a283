/**
 * Files that the index marks as unchanged: `assume-unchanged` and `skip-worktree`, set by an agent or a person.
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { diffOf } from "../../src/worktree/diff.ts";
import { merge } from "../../src/worktree/merge.ts";
import { removeWorktrees } from "../../src/worktree/remove.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, gitBed, refusal, sh, write } from "./git-bed.ts";

const bed = gitBed();
const FILE = ["-c", "protocol.file.allow=always"];
const maxBytes = 100_000;
const removalOf = ({ path, attemptId }: { path: string; attemptId: string }) => ({
  base: join(path, "../.."),
  attemptId,
});
const changedFiles = async (path: string) => (await diffOf(path, { maxBytes })).files.map((file) => file.path);

for (const flags of [["--assume-unchanged"], ["--skip-worktree"], ["--assume-unchanged", "--skip-worktree"]]) {
  describe(`a file with ${flags.join(" and ")}`, () => {
    const hide = (path: string, file: string) => {
      for (const flag of flags) sh(path, "update-index", flag, file);
    };

    test("is in the diff and is merged if it was edited", async () => {
      const repo = bed.repo();
      const made = await bed.attempt(repo);
      hide(made.path, "a.txt");
      expect(await changedFiles(made.path)).toEqual([]);
      write(made.path, "a.txt", "edited");
      expect(sh(made.path, "status", "--porcelain")).toBe("");
      expect(await changedFiles(made.path)).toEqual(["a.txt"]);
      expect((await worktreeStateOf(made.path)).uncommitted).toEqual(["a.txt"]);
      await merge(made.path, { message: "Do it", commit: true });
      expect(sh(repo, "show", "main:a.txt")).toBe("edited");
    });

    test("is not lost with its worktree", async () => {
      const made = await bed.attempt(bed.repo());
      hide(made.path, "a.txt");
      write(made.path, "a.txt", "edited");
      expect((await refusal(removeWorktrees(removalOf(made)))).code).toBe("worktree_dirty");
      expect(existsSync(made.path)).toBe(true);
    });

    test("is not lost with a submodule", async () => {
      const repo = bed.repo();
      sh(repo, ...FILE, "submodule", "--quiet", "add", bed.repo(), "lib");
      commit(repo, "with a submodule");
      const made = await bed.attempt(repo);
      sh(made.path, ...FILE, "submodule", "--quiet", "update", "--init");
      hide(join(made.path, "lib"), "a.txt");
      expect((await worktreeStateOf(made.path)).uncommitted).toEqual([]);
      write(made.path, "lib/a.txt", "edited");
      expect((await worktreeStateOf(made.path)).uncommitted).toEqual(["lib/a.txt"]);
      expect((await refusal(removeWorktrees(removalOf(made)))).code).toBe("worktree_dirty");
    });
  });
}

test("files that a sparse checkout leaves out do not count as deleted", async () => {
  const repo = bed.repo();
  write(repo, "left/out.txt", "x");
  commit(repo, "a folder");
  const made = await bed.attempt(repo);
  sh(made.path, "sparse-checkout", "set", "--no-cone", "/a.txt");
  expect(existsSync(join(made.path, "left"))).toBe(false);
  write(made.path, "a.txt", "edited");
  expect(await changedFiles(made.path)).toEqual(["a.txt"]);
  await merge(made.path, { message: "Do it", commit: true });
  expect(sh(repo, "show", "main:left/out.txt")).toBe("x");
});
