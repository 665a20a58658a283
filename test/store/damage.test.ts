import { expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "../../src/store/open.ts";
import { tryLock } from "../../src/store/sqlite/file-lock.ts";
import { readDamageReport } from "../../src/store/sqlite-files/damage-report.ts";
import { create } from "../../src/testing/sample-task.ts";
import { children } from "./child.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const startChild = children();

const GARBAGE = Buffer.alloc(4_096, "not a database ");

function logged() {
  const lines: string[] = [];
  return { lines, log: (line: string) => lines.push(line) };
}

function setAside(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.includes(".damaged-") && !/-(wal|shm)$/.test(name));
}

/** Overwrites a part of the file. */
function overwrite(file: string, from: number, to: number): void {
  const handle = openSync(file, "r+");
  for (let at = from; at < to; at += GARBAGE.length)
    writeSync(handle, GARBAGE, 0, Math.min(GARBAGE.length, to - at), at);
  closeSync(handle);
}

async function storeWithTasks(directory: string, count: number): Promise<string> {
  const store = await sqliteStore({ directory });
  await Promise.all(Array.from({ length: count }, (_, index) => create(store, `t${index}`)));
  await store.close();
  return join(directory, "asyncagents.db");
}

test("a file that is not a database is set aside unchanged, and its tasks come back from tasks.json", async () => {
  const directory = temporaryFolder();
  const file = await storeWithTasks(directory, 3);
  writeFileSync(file, GARBAGE);
  const { lines, log } = logged();
  const store = await sqliteStore({ directory, log });
  expect((await store.tasks({})).tasks.map((task) => [task.id, task.status, task.run.error])).toEqual([
    ["t2", "error", "interrupted"],
    ["t1", "error", "interrupted"],
    ["t0", "error", "interrupted"],
  ]);
  const [aside = ""] = setAside(directory);
  expect(readFileSync(join(directory, aside))).toEqual(GARBAGE);
  expect(lines[0]).toContain(`is damaged and was set aside as ${join(directory, aside)}`);
  const nothing = { recovered: null, complete: false, backup: null };
  expect(readDamageReport(directory)).toMatchObject({ setAside: join(directory, aside), ...nothing });
  await create(store, "new");
  await store.close();
});

test("damage inside the file is found at the start, or at the start after a query found it", async () => {
  for (const from of [4_096, 60 * 4_096]) {
    const directory = temporaryFolder();
    const file = await storeWithTasks(directory, 400);
    overwrite(file, from, statSync(file).size);
    const first = await sqliteStore({ directory }).catch((thrown) => thrown);
    if (setAside(directory).length === 0) {
      // A search for two letters reads every task.
      const met = await first.tasks({ search: "zz" }).catch((thrown: unknown) => thrown);
      expect(met).toMatchObject({ code: "store_unavailable" });
      expect(met.message).toContain("damaged");
    }
    await first.close();
    const second = await sqliteStore({ directory });
    expect(setAside(directory).length).toBe(1);
    expect((await second.tasks({ search: "zz" })).total).toBe(0);
    expect((await second.tasks({})).total).toBe(400);
    await second.close();
  }
});

test("an intact file is never set aside, whatever a marker says", async () => {
  const directory = temporaryFolder();
  const file = await storeWithTasks(directory, 1);
  writeFileSync(`${file}.suspect`, "");
  const store = await sqliteStore({ directory });
  expect((await store.tasks({})).total).toBe(1);
  expect(readdirSync(directory).filter((name) => /damaged|suspect/.test(name))).toEqual([]);
  await store.close();
});

test("a damaged file is left alone while another process has it open, and set aside once that was killed", async () => {
  const directory = temporaryFolder();
  const file = await storeWithTasks(directory, 1);
  const child = startChild("hold", directory);
  expect(await child.said()).toBe("open\n");
  overwrite(file, 0, statSync(file).size);
  const refused = await sqliteStore({ directory }).catch((thrown) => thrown);
  expect(refused).toMatchObject({ code: "store_unavailable" });
  expect(refused.message).toContain("another process has it open");
  expect(setAside(directory)).toEqual([]);

  await child.kill();
  const store = await sqliteStore({ directory });
  expect(setAside(directory).length).toBe(1);
  expect((await store.tasks({})).total).toBe(1);
  await store.close();
}, 60_000);

test("many processes that find the same damage at once set it aside once, and all of them continue", async () => {
  const directory = temporaryFolder();
  const file = await storeWithTasks(directory, 2);
  overwrite(file, 0, statSync(file).size);
  const children = ["a", "b", "c", "d"].map((name) => startChild("hold", directory, name));
  expect(await Promise.all(children.map((child) => child.said()))).toEqual(children.map(() => "open\n"));
  expect(setAside(directory).length).toBe(1);
  const store = await sqliteStore({ directory });
  expect((await store.tasks({})).total).toBe(2);
  await store.close();
}, 60_000);

test("the locks: many are present, one mirrors beside them, alone excludes all, and a killed holder releases its lock", async () => {
  const directory = temporaryFolder();
  const file = join(directory, "asyncagents.lock");
  const child = startChild("hold", directory);
  expect(await child.said()).toBe("open\n");
  const present = tryLock(file, "present");
  const mirroring = tryLock(file, "mirroring");
  expect([present, mirroring].includes(null)).toBe(false);
  expect(tryLock(file, "mirroring")).toBeNull();
  mirroring?.release();
  present?.release();
  expect(tryLock(file, "alone")).toBeNull();
  await child.kill();
  const alone = tryLock(file, "alone");
  expect(alone).not.toBeNull();
  expect(tryLock(file, "present")).toBeNull();
  alone?.release();
  tryLock(file, "present")?.release();
}, 60_000);
