/** The lock of a repository: what remains of it when its folder goes, or another process has it. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownMaker } from "../../src/worktree/maker.ts";
import { withRepositoryLock } from "../../src/worktree/repository-lock.ts";
import { gitBed } from "./git-bed.ts";

const bed = gitBed();

test("one whose folder was removed meanwhile, and that another process has now, stays that process's", async () => {
  const folder = bed.folder();
  const file = join(folder, "asyncagents.lock");
  const other = JSON.stringify({ ...ownMaker(), token: "another" });
  await withRepositoryLock(folder, async () => writeFileSync(file, other));
  expect(readFileSync(file, "utf8")).toBe(other);
});

test("who waits while the folder is removed makes it anew, if it may", async () => {
  const folder = join(bed.folder(), "cache");
  const lock = (use: () => Promise<void>) => withRepositoryLock(folder, use, { makesFolder: true });
  await lock(async () => rmSync(folder, { recursive: true }));
  expect(existsSync(folder)).toBe(false);
  await lock(async () => expect(readdirSync(folder)).toEqual(["asyncagents.lock"]));
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  await expect(withRepositoryLock(folder, async () => {})).rejects.toThrow("ENOENT");
  expect(existsSync(folder)).toBe(false);
});
