import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attemptFolder, isFolderName, repoFolders } from "../../src/worktree/folder-names.ts";
import { makeWorktrees } from "../../src/worktree/make.ts";
import { readMark } from "../../src/worktree/mark.ts";
import { removeWorktrees } from "../../src/worktree/remove.ts";
import { commit, contentsOf, gitBed, listWorktrees, refusal, sh, traceOf, write } from "./git-bed.ts";

const bed = gitBed();
const now = () => new Date("2030-01-02T03:04:05.000Z");

describe("the worktrees of an attempt", () => {
  test("are real ones, on a new branch, with a mark that git does not see", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const first = sh(repo, "rev-parse", "main");
    const made = await bed.attempt(repo, { attemptId: "attempt-1", base, name: "Fix the läst bug!", now });
    const folder = attemptFolder("attempt-1", "Fix the läst bug!");
    expect(folder).toMatch(/^[0-9a-f]{12}-fix-the-la-st-bug$/);
    expect(made).toEqual({
      path: join(base, folder, "project"),
      attemptId: "attempt-1",
      repo,
      branch: `asyncagents/${folder}`,
      targetBranch: "main",
      baseCommit: first,
      createdAt: now().toISOString(),
      copied: [],
      skipped: [],
      setupOutput: "",
    });
    expect(contentsOf(made.path)).toMatchObject(contentsOf(repo));
    expect(sh(made.path, "status", "--porcelain", "--ignored")).toBe("");
    expect(sh(made.path, "branch", "--show-current")).toBe(made.branch);
    expect(readMark(made.path)).toMatchObject({ attemptId: "attempt-1", repo, branch: made.branch, baseCommit: first });
    expect(sh(repo, "status", "--porcelain")).toBe("");
    expect(statSync(base).mode & 0o777).toBe(0o700);
  });

  test("start from the target branch, not from what is checked out or changed", async () => {
    const repo = bed.repo();
    sh(repo, "switch", "--quiet", "--create", "other");
    write(repo, "b.txt", "b");
    commit(repo, "b");
    write(repo, "a.txt", "dirty");
    const made = await bed.attempt(repo);
    expect(readdirSync(made.path).sort()).toEqual([".git", "a.txt"]);
    expect(readFileSync(join(made.path, "a.txt"), "utf8")).toStartWith("line 1");
    expect(sh(repo, "status", "--porcelain")).toBe("M a.txt");
  });

  test("of a bare repository, and of several repos with the same name, work too", async () => {
    const [one, two] = [bed.repo("same"), bed.repo("same")];
    const bare = join(bed.folder(), "same.git");
    sh(one, "clone", "--quiet", "--bare", one, bare);
    const made = await makeWorktrees({
      attemptId: "a",
      base: join(bed.folder(), "base"),
      name: "",
      repos: [one, two, bare].map((path) => ({ path, targetBranch: "main" })),
    });
    expect(made.map(({ path }) => basename(path))).toEqual(["same", "same-2", "same-3"]);
    for (const { path } of made) expect(sh(path, "log", "-1", "--format=%s")).toBe("first");
  });

  test("can be created ten at a time on one repo", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const ids = Array.from({ length: 10 }, (_, i) => `attempt-${i}`);
    const made = await Promise.all(ids.map((attemptId) => bed.attempt(repo, { attemptId, base })));
    expect(new Set(made.map(({ path }) => path)).size).toBe(10);
    expect(sh(repo, "worktree", "list").split("\n")).toHaveLength(11);
    expect(listWorktrees(base).map(({ condition }) => condition)).toEqual(Array(10).fill("ready"));
    for (const { path } of made) expect(sh(path, "status", "--porcelain")).toBe("");
  }, 60_000);

  test("are created once per attempt, even by two concurrent calls", async () => {
    const repo = bed.repo();
    const request = { attemptId: "twice", base: join(bed.folder(), "base") };
    const both = await Promise.allSettled([bed.attempt(repo, request), bed.attempt(repo, request)]);
    expect(both.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(listWorktrees(request.base)).toMatchObject([{ condition: "ready" }]);
    expect((await refusal(bed.attempt(repo, { ...request, name: "other" }))).code).toBe("worktree_exists");
  });
});

describe("hostile names", () => {
  const names = [
    "../x",
    "-rf",
    "a\nb",
    "..",
    "",
    "/",
    "日本語",
    "x".repeat(300),
    "a b;$(touch x)",
    "\0",
    ".git",
    "C:\\x",
  ];

  test("become plain folders", () => {
    for (const name of names) {
      expect([name, isFolderName(attemptFolder(name, name))]).toEqual([name, true]);
      expect([name, isFolderName(repoFolders([`/x/${name}`])[0] ?? "")]).toEqual([name, true]);
      expect(attemptFolder(name, name).length).toBeLessThan(50);
    }
    expect(new Set(names.map((name) => attemptFolder(name, ""))).size).toBe(names.length);
    expect(repoFolders(["/a/X", "/b/x", "/c/x-2", "/d/X"])).toEqual(["X", "x-2", "x-2-2", "X-3"]);
  });

  test("stay inside the base folder", async () => {
    const outside = bed.folder();
    const base = join(outside, "base");
    const repo = bed.repo("-rf ünï");
    for (const name of names) {
      const made = await bed.attempt(repo, { attemptId: name || "empty", name, base });
      expect(dirname(dirname(made.path))).toBe(base);
      expect(sh(made.path, "branch", "--show-current")).toBe(made.branch);
    }
    expect(readdirSync(outside)).toEqual(["base"]);
  }, 60_000);

  test("of branches are rejected, and nothing is created", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const before = traceOf(repo);
    for (const targetBranch of ["-rf", "with space", "../main", "main\n", "", "nothing", "HEAD", "x".repeat(300)]) {
      const refused = await refusal(bed.attempt(repo, { base, repos: [{ path: repo, targetBranch }] }));
      expect([targetBranch, refused.code]).toEqual([targetBranch, "branch_not_found"]);
    }
    expect((await refusal(bed.attempt(repo, { base, branchPrefix: "a b" }))).code).toBe("invalid_input");
    expect((await refusal(bed.attempt(repo, { base, branchPrefix: "-x" }))).code).toBe("invalid_input");
    expect((await refusal(bed.attempt(repo, { base: "relative" }))).code).toBe("invalid_input");
    expect((await refusal(bed.attempt(repo, { base, repos: [] }))).code).toBe("invalid_input");
    const folder = attemptFolder("taken", "Try it");
    sh(repo, "branch", `asyncagents/${folder}`);
    const taken = await refusal(bed.attempt(repo, { base, attemptId: "taken" }));
    expect(taken).toMatchObject({ code: "worktree_exists", details: { branch: `asyncagents/${folder}` } });
    sh(repo, "branch", "--delete", `asyncagents/${folder}`);
    const twice = [repo, join(repo, ".")].map((path) => ({ path, targetBranch: "main" }));
    expect((await refusal(bed.attempt(repo, { base, repos: twice }))).message).toContain("named twice");
    expect(traceOf(repo)).toEqual(before);
    expect(contentsOf(base)).toEqual({});
  });
});

describe("a failure halfway", () => {
  test("of three repos undoes what was created", async () => {
    const repos = [bed.repo("one"), bed.repo("two"), bed.repo("three")];
    const before = repos.map(traceOf);
    const base = join(bed.folder(), "base");
    write(repos[0] ?? "", ".env", "x");
    const marks = join(base, ".marks");
    // The first exists while the second is set up: otherwise this test would prove nothing.
    const setup = `ls ${marks} | wc -l; ls -a ../one; exit 1`;
    const refused = await refusal(
      makeWorktrees({
        attemptId: "a",
        base,
        name: "x",
        repos: repos.map((path, i) => ({ path, targetBranch: "main", copy: [".env"], ...(i === 1 && { setup }) })),
      }),
    );
    expect(refused.code).toBe("setup_failed");
    expect(refused.message).toContain("two");
    expect(refused.details.output).toContain("2\n.\n..\n.env\n.git\na.txt");
    sh(repos[0] ?? "", "clean", "-fdq");
    expect(repos.map(traceOf)).toEqual(before);
    expect(readdirSync(base)).toEqual([".marks"]);
    expect(readdirSync(marks)).toEqual([]);
  });

  test("of git itself does, too, and leaves what was there before", async () => {
    const [one, two] = [bed.repo("one"), bed.repo("two")];
    const base = join(bed.folder(), "base");
    // A branch of this name prevents branches below it.
    sh(two, "branch", "asyncagents");
    const before = [one, two].map(traceOf);
    const repos = [one, two].map((path) => ({ path, targetBranch: "main" }));
    expect((await refusal(bed.attempt(one, { base, repos }))).code).toBe("git_failed");
    expect([one, two].map(traceOf)).toEqual(before);
    const folder = join(base, attemptFolder("mine", "x"), "one");
    mkdirSync(folder, { recursive: true });
    write(folder, "precious", "x");
    expect((await refusal(bed.attempt(one, { attemptId: "mine", name: "x", base }))).code).toBe("worktree_exists");
    expect(contentsOf(folder)).toEqual({ precious: "x" });
  });

  test("that cannot be undone still says what failed, and what is left can be removed later", async () => {
    const repo = bed.repo();
    const request = { base: join(bed.folder(), "base"), attemptId: "a" };
    const before = traceOf(repo);
    // Without this file, git does not recognize the repository.
    const [head, away] = [join(repo, ".git/HEAD"), join(repo, ".git/away")];
    const repos = [{ path: repo, targetBranch: "main", setup: `mv ${head} ${away}; exit 7` }];
    const refused = await refusal(bed.attempt(repo, { ...request, repos }));
    expect(refused).toMatchObject({ code: "setup_failed", details: { left: [expect.stringContaining(request.base)] } });
    expect(refused.message).toMatch(
      /code 7.*Not everything could be undone: .*not a git repository.*Remove the attempt/s,
    );
    renameSync(away, head);
    expect(await removeWorktrees(request)).toMatchObject([{ branchRemoved: true }]);
    expect(traceOf(repo)).toEqual(before);
    expect(listWorktrees(request.base)).toEqual([]);
  });
});
