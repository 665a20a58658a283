/**
 * `npm run release -- <version> [--dry-run]`: turns "Unreleased" in CHANGELOG.md into the section of a version, sets
 * that version in package.json and package-lock.json, commits and tags. It checks everything before it writes anything,
 * and never pushes or publishes: that is left to a person.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { semver } from "bun";

const USAGE = "Usage: npm run release -- <version> [--dry-run]";
const BRANCH = "main";
const UNRELEASED = "## [Unreleased]";
const CHANGELOG = "CHANGELOG.md";
const PACKAGE = "package.json";
const LOCK = "package-lock.json";
// As in semver.org: no leading zeros, no "v". Build metadata is left out, because npm ignores it.
const VERSION = /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

export interface Release {
  /** The repository. */
  tree: string;
  version: string;
  /** The day of the release, as YYYY-MM-DD. */
  date: string;
  dryRun: boolean;
}

/** Makes the commit and the tag, and returns what it did, in lines. Throws, with nothing changed, where it must not. */
export function release({ tree, version, date, dryRun }: Release): string[] {
  if (!VERSION.test(version)) throw new Error(`"${version}" is not a version. Write it like 1.2.3 or 1.2.3-beta.1.`);
  const tag = `v${version}`;
  checkRepository(tree, tag);
  const files = releasedFiles(tree, version, date);
  const summary = [
    `${CHANGELOG}: "Unreleased" becomes "${version}", ${date}`,
    `${PACKAGE} (also in packages), ${LOCK}: version ${version}`,
    `commit "chore(release): ${version}" and tag ${tag} on ${BRANCH}`,
  ];
  if (dryRun) return ["Dry run, nothing was changed. A release would do this:", ...summary.map((line) => `  ${line}`)];
  writeRelease(tree, files, { version, tag });
  return [...summary, `Nothing was pushed or published. Next: git push origin ${BRANCH} ${tag}`];
}

function checkRepository(tree: string, tag: string): void {
  const branch = git(tree, "branch", "--show-current");
  if (branch !== BRANCH) {
    throw new Error(
      `Releases are made on ${BRANCH}; this is ${branch || "a detached HEAD"}. Run git switch ${BRANCH}.`,
    );
  }
  const changes = git(tree, "status", "--porcelain");
  if (changes !== "") throw new Error(`There are uncommitted changes. Commit or stash them first:\n${changes}`);
  if (git(tree, "tag", "--list", tag) !== "") throw new Error(`The tag ${tag} exists already. Choose a later version.`);
}

/** The new text of each file, by name. */
function releasedFiles(tree: string, version: string, date: string): Map<string, string> {
  const read = (name: string) => readFileSync(join(tree, name), "utf8");
  const manifest = JSON.parse(read(PACKAGE));
  // The version itself is allowed: the first release has the version that package.json began with.
  if (semver.order(version, manifest.version) < 0) {
    throw new Error(`${version} is lower than the present version ${manifest.version}. Choose a later version.`);
  }
  const lock = JSON.parse(read(LOCK));
  lock.version = version;
  lock.packages[""].version = version;
  const others = workspaces(tree).map((folder) => {
    lock.packages[folder].version = version;
    const file = `${folder}/${PACKAGE}`;
    return [file, json({ ...JSON.parse(read(file)), version })] as const;
  });
  return new Map([
    ...others,
    [CHANGELOG, releasedChangelog(read(CHANGELOG), version, date)],
    [PACKAGE, json({ ...manifest, version })],
    [LOCK, json(lock)],
  ]);
}

/** The folders of the packages beside the main one; all have its version. */
function workspaces(tree: string): string[] {
  const folder = join(tree, "packages");
  return existsSync(folder) ? readdirSync(folder).map((name) => `packages/${name}`) : [];
}

/** The changelog with what was unreleased under a version of its own, and an empty "Unreleased" above it. */
function releasedChangelog(text: string, version: string, date: string): string {
  if (text.includes(`## [${version}]`)) throw new Error(`${CHANGELOG} has a section for ${version} already.`);
  const start = text.indexOf(`${UNRELEASED}\n`);
  if (start === -1) throw new Error(`${CHANGELOG} has no line "${UNRELEASED}". Add it above the newest version.`);
  const after = text.slice(start + UNRELEASED.length).trimStart();
  const next = after.search(/^## /m);
  if (!/^- /m.test(next === -1 ? after : after.slice(0, next))) {
    throw new Error(`Nothing is listed under "Unreleased" in ${CHANGELOG}: there is nothing to release.`);
  }
  return `${text.slice(0, start)}${UNRELEASED}\n\n## [${version}] - ${date}\n\n${after}`;
}

/** As npm and the formatter write it. */
function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function writeRelease(
  tree: string,
  files: Map<string, string>,
  { version, tag }: { version: string; tag: string },
): void {
  const names = [...files.keys()];
  try {
    for (const [name, text] of files) writeFileSync(join(tree, name), text);
    git(tree, "commit", "--quiet", "--message", `chore(release): ${version}`, "--", ...names);
  } catch (cause) {
    // The tree was clean, so this restores what was there.
    git(tree, "restore", "--staged", "--worktree", "--", ...names);
    throw new Error(`git made no commit, and the files are as they were: ${messageOf(cause)}`, { cause });
  }
  git(tree, "tag", "--annotate", tag, "--message", version);
}

function git(tree: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: tree, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function main(args: string[]): number {
  try {
    const options = { "dry-run": { type: "boolean", default: false } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [version, ...rest] = positionals;
    if (version === undefined || rest.length > 0) throw new Error(USAGE);
    const date = new Date().toISOString().slice(0, 10);
    const lines = release({ tree: dirname(import.meta.dir), version, date, dryRun: values["dry-run"] });
    for (const line of lines) console.log(line);
    return 0;
  } catch (thrown) {
    console.error(messageOf(thrown));
    return 1;
  }
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
