import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attemptFolder, isFolderName, repoFolders } from "../../src/worktree/folder-names.ts";
import { listWorktrees } from "../../src/worktree/list.ts";
import { makeWorktrees } from "../../src/worktree/make.ts";
import { readMark } from "../../src/worktree/mark.ts";
import { merge } from "../../src/worktree/merge.ts";
import { commit, contentsOf, gitBed, refusal, sh, traceOf, write } from "./git-bed.ts";

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

describe("copied files", () => {
  test("are the matching untracked ones, and nothing else", async () => {
    const repo = bed.repo();
    write(repo, ".gitignore", ".env*\nlocal/\n");
    commit(repo, "ignore");
    for (const path of [".env", ".env.test", "local/deep/key", "loose.txt"]) write(repo, path, `of ${path}`);
    write(repo, "a.txt", "changed here");
    const copy = [".env*", "local", "loose.txt", "a.txt", "missing"];
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", copy }] });
    expect(made.copied).toEqual([".env", ".env.test", "local/deep/key", "loose.txt"]);
    expect(made.skipped.map(({ path }) => path)).toEqual(["a.txt", "missing"]);
    expect(contentsOf(made.path)).toMatchObject({ "local/deep/key": "of local/deep/key", "loose.txt": "of loose.txt" });
    expect(readFileSync(join(made.path, "a.txt"), "utf8")).toStartWith("line 1");
  });

  test("never replace what the target branch has, nor follow its links", async () => {
    const repo = bed.repo();
    const outside = bed.folder();
    sh(repo, "switch", "--quiet", "--create", "links");
    write(repo, ".env", "tracked");
    symlinkSync(outside, join(repo, "config"));
    commit(repo, "links");
    sh(repo, "switch", "--quiet", "main");
    write(repo, ".env", "mine");
    write(repo, "config/key", "secret");
    const copy = [".env", "config/key"];
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "links", copy }] });
    expect(made.copied).toEqual([]);
    expect(made.skipped.map(({ path }) => path)).toEqual([".env", "config/key"]);
    expect(readFileSync(join(made.path, ".env"), "utf8")).toBe("tracked");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("are not read through links that lead out of the repository", async () => {
    const repo = bed.repo();
    const outside = bed.folder();
    write(outside, "secret", "secret");
    write(repo, "real", "real");
    symlinkSync(join(outside, "secret"), join(repo, "link"));
    symlinkSync(join(repo, ".git/config"), join(repo, "config-link"));
    symlinkSync("real", join(repo, "inner-link"));
    symlinkSync(outside, join(repo, "folder"));
    const copy = ["link", "config-link", "inner-link", "folder/secret"];
    const made = await bed
      .attempt(repo, { repos: [{ path: repo, targetBranch: "main", copy }] })
      .catch((thrown) => thrown);
    expect(made).toMatchObject({ copied: ["inner-link"] });
    expect(readdirSync(made.path).sort()).toEqual([".git", "a.txt", "inner-link"]);
  });

  test("outside the repository are rejected", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    for (const pattern of ["../x", "/etc/passwd", "a/../../x", "-x", ":(top)x", "", ".git/config", "a\0b", ".GIT/x"]) {
      const repos = [{ path: repo, targetBranch: "main", copy: [pattern] }];
      expect([pattern, (await refusal(bed.attempt(repo, { base, repos }))).code]).toEqual([pattern, "invalid_input"]);
    }
    expect(existsSync(base)).toBe(false);
  });
});

describe("the setup script", () => {
  test("is not visible to other users, who can see every program's arguments", async () => {
    const repo = bed.repo();
    const setup = "token=s3cret-token\nps -axww -o args= > processes.txt\ncat /proc/*/cmdline >> processes.txt || true";
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", setup }] });
    const processes = readFileSync(join(made.path, "processes.txt"), "utf8");
    expect(processes).toContain("ps -axww");
    expect(processes).not.toContain("s3cret-token");
  });

  test("runs in the worktree, and a bounded part of its output is kept", async () => {
    const repo = bed.repo();
    const setup =
      'pwd; echo "$ASYNCAGENTS_REPO"; cat; echo made > setup.txt; head -c 50000 /dev/zero | tr "\\0" x; echo end';
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", setup }] });
    expect(made.setupOutput.length).toBe(8_000);
    expect(made.setupOutput).toEndWith("xend\n");
    expect(existsSync(join(made.path, "setup.txt"))).toBe(true);
    const where = await bed.attempt(repo, {
      repos: [{ path: repo, targetBranch: "main", setup: 'pwd; echo "$ASYNCAGENTS_REPO"' }],
    });
    expect(where.setupOutput).toBe(`${where.path}\n${repo}\n`);
  });

  test("that fails says why, and undoes everything", async () => {
    const repo = bed.repo();
    const base = join(bed.folder(), "base");
    const before = traceOf(repo);
    const run = (setup: string) =>
      refusal(bed.attempt(repo, { base, setupTimeLimit: 500, repos: [{ path: repo, targetBranch: "main", setup }] }));
    const failed = await run("echo the reason >&2; touch x; git commit --allow-empty -qm x; exit 7");
    expect(failed.code).toBe("setup_failed");
    expect(failed.message).toContain("code 7");
    expect(failed.message).toContain("the reason");
    expect((await run("sleep 60 & echo before; sleep 60")).message).toContain("took longer than 500 ms");
    expect(traceOf(repo)).toEqual(before);
    expect(readdirSync(base)).toEqual([".marks"]);
    expect(contentsOf(base)).toEqual({});
  });

  test("leaves no process behind", async () => {
    const repo = bed.repo();
    const setup = "sleep 60 & echo $!";
    const made = await bed.attempt(repo, { repos: [{ path: repo, targetBranch: "main", setup }] });
    const pid = Number(made.setupOutput);
    expect(pid).toBeGreaterThan(1);
    for (let i = 0; i < 100 && isAlive(pid); i++) await Bun.sleep(20);
    expect(isAlive(pid)).toBe(false);
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
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

describe("a filter", () => {
  test("of the person's own config runs, even if the repository's config names another program for it", async () => {
    const repo = bed.repo();
    write(repo, ".gitattributes", "*.up filter=upper\n");
    write(repo, "word.up", "word\n");
    commit(repo, "words");
    const own = (name: string, value: string) => sh(repo, "config", "--global", `filter.upper.${name}`, value);
    own("smudge", "tr a-z A-Z");
    own("clean", "tr A-Z a-z");
    sh(repo, "config", "filter.upper.smudge", "false");
    const made = await bed.attempt(repo);
    expect(readFileSync(join(made.path, "word.up"), "utf8")).toBe("WORD\n");
    write(made.path, "other.up", "OTHER\n");
    await merge(made.path, { message: "more words", commit: true });
    expect(sh(repo, "show", "main:other.up")).toBe("other");
    expect(readFileSync(join(repo, "other.up"), "utf8")).toBe("OTHER\n");
    sh(repo, "config", "--global", "--remove-section", "filter.upper");
    expect((await refusal(bed.attempt(repo))).message).toContain('defines the filter "upper"');
  });
});

describe("a repository of another kind", () => {
  test("with SHA-256 names works like any other", async () => {
    const repo = join(bed.folder(), "long");
    mkdirSync(repo);
    sh(repo, "init", "--quiet", "--initial-branch=main", "--object-format=sha256");
    write(repo, "a.txt", "a\n");
    commit(repo, "first");
    const made = await bed.attempt(repo);
    write(made.path, "b.txt", "b\n");
    await merge(made.path, { message: "b", commit: true });
    expect(sh(repo, "ls-files")).toBe("a.txt\nb.txt");
  });

  test("with a sparse checkout stays sparse", async () => {
    const repo = bed.repo();
    for (const name of ["in/x", "out/y"]) write(repo, name, "x\n");
    commit(repo, "folders");
    sh(repo, "sparse-checkout", "set", "in");
    const made = await bed.attempt(repo);
    expect(readdirSync(made.path).sort()).toEqual([".git", "a.txt", "in"]);
    expect(sh(made.path, "status", "--porcelain")).toBe("");
    write(made.path, "in/new", "new\n");
    await merge(made.path, { message: "new", commit: true });
    expect(sh(repo, "ls-tree", "-r", "--name-only", "main").split("\n")).toEqual(["a.txt", "in/new", "in/x", "out/y"]);
    expect(readdirSync(repo).sort()).toEqual([".git", "a.txt", "in"]);
    expect(sh(repo, "status", "--porcelain")).toBe("");
  });
});
