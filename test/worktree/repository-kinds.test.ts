import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { merge } from "../../src/worktree/merge.ts";
import { commit, gitBed, refusal, sh, write } from "./git-bed.ts";

const bed = gitBed();

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

  test("that is a partial clone works once its files are fetched as the error says", async () => {
    const origin = bed.repo();
    sh(origin, "config", "uploadpack.allowFilter", "true");
    const repo = join(bed.folder(), "partial");
    sh(origin, "clone", "--quiet", "--no-checkout", "--filter=blob:none", `file://${origin}`, repo);
    const refused = await refusal(bed.attempt(repo));
    const advice = "git fetch --refetch --no-filter";
    expect([refused.code, refused.message]).toEqual(["git_failed", expect.stringContaining(advice)]);
    sh(repo, ...advice.split(" ").slice(1), "--quiet");
    const made = await bed.attempt(repo);
    expect(readFileSync(join(made.path, "a.txt"), "utf8")).toStartWith("line 1");
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
