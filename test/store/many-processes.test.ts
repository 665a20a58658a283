import { expect, test } from "bun:test";
import { sqliteStore } from "../../src/store/open.ts";
import type { FeedEntry } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { create } from "../../src/testing/sample-task.ts";
import { children } from "./child.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const startChild = children();

const NAMES = ["a", "b", "c", "d"];

test("four processes, 250 writes each: nothing is lost, and another process follows them in order", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  await create(store, "shared");
  const seen: FeedEntry[] = [];
  const followed = eventually(store, async () => {
    for (let more: FeedEntry[] | null = null; more?.length !== 0; seen.push(...more)) {
      more = await store.feed(seen.at(-1)?.seq ?? 0);
    }
    return (seen.at(-1)?.seq ?? 0) >= 1_001 ? seen : null;
  });
  const children = NAMES.map((name) => startChild("write", directory, name));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
  await followed;

  expect((await store.task("shared"))?.progress.toolCalls).toBe(500);
  expect((await store.tasks({})).total).toBe(501);
  expect(await store.lastSeq()).toBe(1_001);
  for (const [index, entry] of seen.entries()) expect(entry.seq).toBeGreaterThan(seen[index - 1]?.seq ?? 0);
  for (const name of NAMES) {
    const own = seen.filter((entry) => entry.taskId.startsWith(`${name}-`)).map((entry) => entry.taskId);
    expect(own).toEqual(Array.from({ length: 125 }, (_, index) => `${name}-${index}`));
  }
  await store.close();
}, 120_000);

test("many processes can open and create a new store at once", async () => {
  const directory = temporaryFolder();
  const children = NAMES.map((name) => startChild("hold", directory, name));
  expect(await Promise.all(children.map((child) => child.said()))).toEqual(NAMES.map(() => "open\n"));
}, 60_000);
