/** How the page parses a diff, using diffs written by git itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileDiff, parseDiff } from "../../dashboard/src/diff/parse-diff.ts";

let repo: string;

const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, encoding: "utf8" });
const write = (path: string, text: string | Uint8Array) => writeFileSync(join(repo, path), text);
const lines = (count: number, word: string) =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");

beforeAll(() => {
  repo = mkdtempSync(join(tmpdir(), "asyncagents-diff-"));
  git("init", "-q");
  mkdirSync(join(repo, "a b"));
  write("a b/with blank.txt", "one\n");
  write('quoted "ü"\t.txt', "one\n");
  write("heads.sql", "-- a comment\n++ not a head\nkept\n");
  write("far.txt", lines(60, "line"));
  write("picture.bin", new Uint8Array([0, 1, 2]));
  write("gone.txt", "bye\n");
  write("moved.txt", lines(20, "same"));
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first");
  write("a b/with blank.txt", "two");
  write('quoted "ü"\t.txt', "two\n");
  write("heads.sql", "kept\nmore\n");
  write("far.txt", lines(60, "line").replace("line 2\n", "").replace("line 50\n", "line 50\nnew\n"));
  write("picture.bin", new Uint8Array([0, 1, 3]));
  rmSync(join(repo, "gone.txt"));
  renameSync(join(repo, "moved.txt"), join(repo, "a b", "bewegt ü.txt"));
  write("empty.txt", "");
  git("add", "-A");
});
afterAll(() => rmSync(repo, { recursive: true, force: true }));

function files(): Map<string, FileDiff> {
  return new Map(parseDiff(git("diff", "--cached", "-M")).map((file) => [file.path, file]));
}

test("every file is found under its real name, with what happened to it", () => {
  const found = [...files().values()].map(({ path, from, change, isBinary }) => ({ path, from, change, isBinary }));
  const plain = { from: null, change: "changed", isBinary: false };
  expect(found.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
    { ...plain, path: "a b/bewegt ü.txt", from: "moved.txt", change: "moved" },
    { ...plain, path: "a b/with blank.txt" },
    { ...plain, path: "empty.txt", change: "added" },
    { ...plain, path: "far.txt" },
    { ...plain, path: "gone.txt", change: "removed" },
    { ...plain, path: "heads.sql" },
    { ...plain, path: "picture.bin", isBinary: true },
    { ...plain, path: 'quoted "ü"\t.txt' },
  ] as typeof found);
});

test("lines have their numbers before and after, even in a second hunk", () => {
  const hunks = files().get("far.txt")?.hunks ?? [];
  expect(hunks).toHaveLength(2);
  const changed = hunks.flatMap((hunk) => hunk.lines).filter(({ kind }) => kind !== "context");
  expect(changed).toEqual([
    { kind: "removed", text: "line 2", before: 3, after: null },
    { kind: "added", text: "new", before: null, after: 51 },
  ]);
});

test("lines that look like headers are lines, and a missing final newline is reported", () => {
  const heads = files().get("heads.sql");
  expect(heads?.hunks[0]?.lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "removed -- a comment",
    "removed ++ not a head",
    "context kept",
    "added more",
  ]);
  expect([heads?.insertions, heads?.deletions]).toEqual([1, 2]);
  const last = files().get("a b/with blank.txt")?.hunks[0]?.lines.at(-1);
  expect(last).toMatchObject({ kind: "note", text: "No newline at end of file" });
});

test("a diff cut anywhere is parsed as far as it goes", () => {
  const whole = git("diff", "--cached", "-M");
  for (let end = 0; end < whole.length; end += 7) {
    const cut = whole.slice(0, whole.lastIndexOf("\n", end) + 1);
    expect(parseDiff(cut).length).toBeLessThanOrEqual(8);
  }
  expect(parseDiff("")).toEqual([]);
});
