import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { release } from "../../scripts/release.ts";
import { root } from "../ground/repository.ts";
import { commit, gitBed, sh, write } from "../worktree/git-bed.ts";

const bed = gitBed();

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- A thing that users notice.

## [0.1.0] - 2026-01-01

- The first version.
`;

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** A repository with all that a release touches, on main. */
function project(changelog = CHANGELOG): string {
  const tree = bed.repo();
  write(tree, "packages/part/package.json", json({ name: "part", version: "0.1.0" }));
  write(tree, "CHANGELOG.md", changelog);
  write(tree, "package.json", json({ name: "sample", version: "0.1.0", type: "module" }));
  const dependency = { version: "0.1.0" };
  const packages = {
    "": { name: "sample", version: "0.1.0" },
    "node_modules/a": dependency,
    "packages/part": { version: "0.1.0" },
  };
  write(tree, "package-lock.json", json({ name: "sample", version: "0.1.0", lockfileVersion: 3, packages }));
  commit(tree, "the beginning");
  return tree;
}

const run = (tree: string, version = "0.2.0", dryRun = false) => release({ tree, version, date: "2026-11-16", dryRun });
const text = (tree: string, name: string) => readFileSync(join(tree, name), "utf8");

describe("a release", () => {
  test("moves the changelog, sets the version, commits and tags, and pushes nothing", () => {
    const tree = project();
    const before = sh(tree, "rev-parse", "HEAD");
    const lines = run(tree);

    expect(text(tree, "CHANGELOG.md")).toBe(
      CHANGELOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-11-16\n"),
    );
    expect(text(tree, "package.json")).toBe(json({ name: "sample", version: "0.2.0", type: "module" }));
    expect(JSON.parse(text(tree, "package-lock.json"))).toEqual({
      name: "sample",
      version: "0.2.0",
      lockfileVersion: 3,
      packages: {
        "": { name: "sample", version: "0.2.0" },
        "node_modules/a": { version: "0.1.0" },
        "packages/part": { version: "0.2.0" },
      },
    });
    expect(text(tree, "packages/part/package.json")).toBe(json({ name: "part", version: "0.2.0" }));
    expect(sh(tree, "log", "-1", "--format=%s %P")).toBe(`chore(release): 0.2.0 ${before}`);
    expect(sh(tree, "diff", "--name-only", "HEAD~1").split("\n")).toEqual([
      "CHANGELOG.md",
      "package-lock.json",
      "package.json",
      "packages/part/package.json",
    ]);
    expect(sh(tree, "rev-parse", "v0.2.0^{commit}")).toBe(sh(tree, "rev-parse", "HEAD"));
    expect(sh(tree, "cat-file", "-t", "v0.2.0")).toBe("tag");
    expect(sh(tree, "status", "--porcelain")).toBe("");
    expect(lines.at(-1)).toContain("git push origin main v0.2.0");
  });

  test("can be a prerelease, or the first one with the version that is there", () => {
    const tree = project(CHANGELOG.replace(/## \[0\.1\.0\][\s\S]*/, ""));
    run(tree, "0.1.0");
    expect(sh(tree, "tag")).toBe("v0.1.0");
    write(tree, "CHANGELOG.md", text(tree, "CHANGELOG.md").replace("## [Unreleased]", "## [Unreleased]\n\n- More."));
    commit(tree, "more");
    run(tree, "0.2.0-beta.1");
    expect(sh(tree, "tag").split("\n")).toEqual(["v0.1.0", "v0.2.0-beta.1"]);
  });

  test("changes nothing in a dry run, and says what it would do", () => {
    const tree = project();
    const before = sh(tree, "rev-parse", "HEAD");
    expect(run(tree, "0.2.0", true).join("\n")).toMatch(/nothing was changed[\s\S]*version 0\.2\.0[\s\S]*tag v0\.2\.0/);
    expect([sh(tree, "rev-parse", "HEAD"), sh(tree, "status", "--porcelain"), sh(tree, "tag")]).toEqual([
      before,
      "",
      "",
    ]);
  });

  test("restores the files when git refuses the commit", () => {
    const tree = project();
    write(tree, ".git/hooks/pre-commit", "#!/bin/sh\necho refused by a hook >&2\nexit 1\n");
    chmodSync(join(tree, ".git/hooks/pre-commit"), 0o755);
    expect(() => run(tree)).toThrow(/the files are as they were[\s\S]*refused by a hook/);
    expect([sh(tree, "status", "--porcelain"), sh(tree, "tag"), text(tree, "CHANGELOG.md")]).toEqual([
      "",
      "",
      CHANGELOG,
    ]);
  });
});

describe("a release is refused, with the reason,", () => {
  const refuse = (tree: string, version: string, reason: RegExp) => {
    const state = () => [sh(tree, "rev-parse", "HEAD"), sh(tree, "status", "--porcelain"), sh(tree, "tag")];
    const before = state();
    expect(() => run(tree, version)).toThrow(reason);
    expect(() => run(tree, version, true)).toThrow(reason);
    expect(state()).toEqual(before);
  };

  test.each(["", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3+build", "latest", "--force", "1.2.3\n"])(
    "for %p, which is not a version",
    (version) => refuse(project(), version, /is not a version/),
  );

  test("on another branch", () => {
    const tree = project();
    sh(tree, "switch", "--quiet", "--create", "topic");
    refuse(tree, "0.2.0", /made on main; this is topic/);
    sh(tree, "switch", "--quiet", "--detach");
    refuse(tree, "0.2.0", /a detached HEAD/);
  });

  test("with changes that are not committed, also new files", () => {
    const tree = project();
    write(tree, "new.txt", "new");
    refuse(tree, "0.2.0", /uncommitted changes[\s\S]*new\.txt/);
  });

  test("for a version that exists, or is lower than the present one", () => {
    const tree = project();
    refuse(tree, "0.0.9", /lower than the present version 0\.1\.0/);
    refuse(tree, "0.1.0-beta.1", /lower than the present version 0\.1\.0/);
    refuse(tree, "0.1.0", /has a section for 0\.1\.0 already/);
    sh(tree, "tag", "v0.3.0");
    refuse(tree, "0.3.0", /tag v0\.3\.0 exists already/);
  });

  test("without anything under Unreleased", () => {
    refuse(project(CHANGELOG.replace("- A thing that users notice.\n", "")), "0.2.0", /nothing to release/);
    refuse(project(CHANGELOG.replace("## [Unreleased]\n", "")), "0.2.0", /no line "## \[Unreleased\]"/);
  });

  test("on the command line, with exit code 1", () => {
    const script = join(root, "scripts/release.ts");
    for (const [args, reason] of [
      [[], "Usage: npm run release -- <version> [--dry-run]"],
      [["1.0.0", "2.0.0"], "Usage: npm run release"],
      [["not-a-version"], '"not-a-version" is not a version'],
      [["1.0.0", "--publish"], "--publish"],
    ] as const) {
      const { exitCode, stderr, stdout } = Bun.spawnSync([process.execPath, script, ...args, "--dry-run"]);
      expect([exitCode, stdout.toString()]).toEqual([1, ""]);
      expect(stderr.toString()).toContain(reason);
    }
  });
});

describe("this project", () => {
  test("has an Unreleased section for the next release", () => {
    expect(text(root, "CHANGELOG.md")).toContain("\n## [Unreleased]\n");
  });

  test("keeps its package files in the form that a release writes", () => {
    for (const name of ["package.json", "package-lock.json"]) {
      expect(text(root, name)).toBe(json(JSON.parse(text(root, name))));
    }
  });
});
