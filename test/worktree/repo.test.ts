import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectRepo, isBranchName, tipOf } from "../../src/worktree/git/repo.ts";
import { commit, gitBed, placeOf, refusal, sh, write } from "./git-bed.ts";

const bed = gitBed();

describe("a repository", () => {
  test("is found from a folder in it, with its branches", async () => {
    const repo = bed.repo("with space ü");
    sh(repo, "switch", "--quiet", "--create", "feature/one");
    mkdirSync(join(repo, "inner"));
    expect(await inspectRepo(join(repo, "inner"))).toEqual({
      root: repo,
      gitDir: join(repo, ".git"),
      place: placeOf(repo),
      bare: false,
      currentBranch: "feature/one",
      defaultBranch: "main",
      branches: ["feature/one", "main"],
    });
    sh(repo, "switch", "--quiet", "--detach");
    expect((await inspectRepo(repo)).currentBranch).toBeNull();
  });

  test("starts attempts from the default branch of its remote", async () => {
    const repo = bed.repo();
    sh(repo, "branch", "develop");
    const clone = join(bed.folder(), "clone");
    sh(repo, "symbolic-ref", "HEAD", "refs/heads/develop");
    sh(repo, "clone", "--quiet", repo, clone);
    sh(clone, "branch", "main");
    expect((await inspectRepo(clone)).defaultBranch).toBe("develop");
  });

  test("may be bare, or a worktree of another", async () => {
    const repo = bed.repo();
    const bare = join(bed.folder(), "it.git");
    sh(repo, "clone", "--quiet", "--bare", repo, bare);
    expect(await inspectRepo(bare)).toMatchObject({ root: bare, gitDir: bare, bare: true, defaultBranch: "main" });
    const linked = join(bed.folder(), "linked");
    sh(repo, "worktree", "add", "--quiet", "-b", "side", linked);
    expect(await inspectRepo(linked)).toMatchObject({
      root: linked,
      gitDir: join(repo, ".git"),
      currentBranch: "side",
    });
  });

  test("that cannot be used says why", async () => {
    const empty = bed.folder();
    sh(empty, "init", "--quiet");
    const file = bed.repo();
    write(file, "file", "");
    const cases = [
      ["relative/path", "absolute"],
      [join(bed.folder(), "nothing"), "does not exist"],
      [join(file, "file"), "is not a folder"],
      [bed.folder(), "is not a git repository"],
      [empty, "first commit"],
      [join(bed.repo(), ".git"), "git's own folder"],
      [`${bed.folder()}\0x`, "NUL"],
    ];
    for (const [path = "", words = ""] of cases) {
      const refused = await refusal(inspectRepo(path));
      expect([refused.code, refused.message]).toEqual(["repo_invalid", expect.stringContaining(words)]);
    }
  });

  test("whose config claims another folder for its checkout is rejected", async () => {
    const [repo, elsewhere] = [bed.repo(), bed.folder()];
    write(elsewhere, "secret", "x");
    sh(repo, "config", "core.worktree", elsewhere);
    const refused = await refusal(inspectRepo(repo));
    expect([refused.code, refused.message]).toEqual([
      "repo_invalid",
      expect.stringMatching(/git's own folder|core\.worktree/),
    ]);
    sh(elsewhere, "init", "--quiet");
    expect((await refusal(inspectRepo(repo))).code).toBe("repo_invalid");
    sh(repo, "config", "core.worktree", "/");
    expect((await refusal(inspectRepo(repo))).message).toContain("core.worktree");
  });

  test("accepts only branch names that cannot be options or anything else", async () => {
    const place = placeOf(bed.repo());
    for (const name of ["main", "feature/ünïcode", "a.b", "x".repeat(240)])
      expect(await isBranchName(place, name)).toBe(true);
    for (const name of ["", "-rf", "a b", "a\nb", "../x", "a..b", "@{-1}", "x".repeat(241), "a\0b", "a.lock", "a:b"]) {
      expect([name, await isBranchName(place, name)]).toEqual([name, false]);
    }
  });

  test("is not said to lack a branch when git cannot read the person's own config", async () => {
    const place = placeOf(bed.repo());
    const tip = await tipOf(place, "main");
    const file = process.env.GIT_CONFIG_GLOBAL ?? "";
    const before = readFileSync(file, "utf8");
    writeFileSync(file, "[broken\n");
    const refused = await refusal(tipOf(place, "main")).finally(() => writeFileSync(file, before));
    expect([refused.code, refused.message]).toEqual(["git_failed", expect.stringContaining("bad config line 1")]);
    expect(await tipOf(place, "main")).toBe(tip);
  });

  test("has only local branches: no tags, commits or remote branches", async () => {
    const repo = bed.repo();
    sh(repo, "tag", "v1");
    const first = sh(repo, "rev-parse", "HEAD");
    sh(repo, "update-ref", "refs/remotes/origin/theirs", first);
    expect(await tipOf(placeOf(repo), "main")).toBe(first);
    write(repo, "b", "b");
    const second = commit(repo, "second");
    expect(await tipOf(placeOf(repo), "main")).toBe(second);
    for (const name of ["v1", first, "HEAD", "origin/theirs", "--all", "main^"]) {
      expect([name, (await refusal(tipOf(placeOf(repo), name))).code]).toEqual([name, "branch_not_found"]);
    }
  });
});
