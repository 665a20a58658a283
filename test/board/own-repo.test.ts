/** Which repository a session of OpenCode gets worktrees of: the one that OpenCode was opened in, and no other. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { assertOwnRepo } from "../../src/board/worktrees/own-repo.ts";
import { inspectRepo } from "../../src/worktree/git/repo.ts";
import { commit, gitBed, refusal, sh, write } from "../worktree/git-bed.ts";

const bed = gitBed();
/** As OpenCode says it: `/` where it found no repository. */
const use = async (directory: string, worktree: string) =>
  assertOwnRepo(await inspectRepo(directory), { directory, worktree });

test("the repository around the folder, also through a link to the folder", async () => {
  const repo = bed.repo();
  write(repo, "sub/b.txt", "b\n");
  await use(repo, repo);
  await use(join(repo, "sub"), repo);
  const link = join(bed.folder(), "link");
  symlinkSync(join(repo, "sub"), link);
  await use(link, repo);
  // Made after OpenCode was opened, in the very folder.
  await use(repo, "/");
});

test("a linked worktree, and a submodule, which git's folder names", async () => {
  const repo = bed.repo();
  write(repo, "sub/b.txt", "b\n");
  commit(repo, "second");
  const linked = join(bed.folder(), "linked");
  sh(repo, "worktree", "add", "--quiet", "-b", "side", linked);
  await use(linked, linked);
  await use(join(linked, "sub"), linked);
  const top = bed.repo();
  sh(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repo, "lib");
  await use(join(top, "lib"), join(top, "lib"));
});

test("no other: what a .git file or a link names, and what is around the folder", async () => {
  const other = bed.repo("other");
  const opened = bed.folder();
  write(opened, ".git", `gitdir: ${join(other, ".git")}\n`);
  for (const worktree of ["/", opened, other]) {
    const refused = await refusal(use(opened, worktree));
    expect(refused.code).toBe("not_allowed");
    expect(refused.message).not.toContain(other);
  }
  const linking = bed.folder();
  symlinkSync(join(other, ".git"), join(linking, ".git"));
  expect((await refusal(use(linking, linking))).code).toBe("not_allowed");
  const within = join(bed.repo(), "sub");
  mkdirSync(within);
  cpSync(join(opened, ".git"), join(within, ".git"));
  expect((await refusal(use(within, join(within, "..")))).code).toBe("not_allowed");
  // A repository that was made around the folder later is not what OpenCode was opened in.
  const around = bed.folder();
  mkdirSync(join(around, "deep"));
  write(around, "a.txt", "a\n");
  sh(around, "init", "--quiet", "--initial-branch=main");
  commit(around, "first");
  expect((await refusal(use(join(around, "deep"), "/"))).code).toBe("not_allowed");
});
