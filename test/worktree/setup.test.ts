/** What a new worktree gets beyond the files of its branch: copied files, and what a setup script makes. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { commit, contentsOf, gitBed, isAlive, refusal, sh, traceOf, write } from "./git-bed.ts";

const bed = gitBed();

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

  test("are at most a thousand: with more of them, nothing is created", async () => {
    const repo = bed.repo();
    for (let count = 0; count <= 1_000; count++) write(repo, `cache/${count}`, "");
    const repos = [{ path: repo, targetBranch: "main", copy: ["cache"] }];
    const before = traceOf(repo);
    const base = join(bed.folder(), "base");
    const refused = await refusal(bed.attempt(repo, { base, repos }));
    expect([refused.code, refused.message]).toEqual(["too_large", expect.stringContaining('"cache" matches more')]);
    expect(traceOf(repo)).toEqual(before);
    expect(contentsOf(base)).toEqual({});
  }, 60_000);
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

  test("that is stopped before it was read whole has failed, and nothing else", async () => {
    const repo = bed.repo();
    const long = `# ${"x".repeat(4_000_000)}`;
    const refused = await refusal(
      bed.attempt(repo, { setupTimeLimit: 1, repos: [{ path: repo, targetBranch: "main", setup: long }] }),
    );
    expect([refused.code, refused.message]).toEqual(["setup_failed", expect.stringContaining("took longer than 1 ms")]);
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
