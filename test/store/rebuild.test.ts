import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "../../src/store/open.ts";
import { backupsIn, makeBackup, storeFileOf } from "../../src/store/sqlite-files/backups.ts";
import { dismissDamageReport, readDamageReport } from "../../src/store/sqlite-files/damage-report.ts";
import { restoreBackup } from "../../src/store/sqlite-files/restore.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const PAGE = 4_096;
const GARBAGE = Buffer.alloc(PAGE, "not a database ");

async function withStore<T>(directory: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await sqliteStore({ directory });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function addProject(store: Store, id: string) {
  return store.board.addProject({ id, name: `Project ${id}`, createdAt: 1, updatedAt: 1 });
}

async function projects(store: Store): Promise<string[]> {
  const found = await store.board.projects({ limit: 100, after: null });
  return found.map(({ id }) => id).sort();
}

/** The first page of a table. */
function rootPage(file: string, table: string): number {
  const database = new Database(file, { readonly: true });
  try {
    const row = database.query("select rootpage from sqlite_schema where name = ?").get(table);
    return (row as { rootpage: number }).rootpage;
  } finally {
    database.close();
  }
}

function destroyPage(file: string, page: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, GARBAGE, 0, PAGE, (page - 1) * PAGE);
  closeSync(handle);
}

test("a damaged table costs only that table: tasks and board are recovered from the rest, and a report is written", async () => {
  const directory = temporaryFolder();
  await withStore(directory, async (store) => {
    await create(store, "t1");
    await store.apply("t1", completed(2_000));
    await addProject(store, "p1");
  });
  const file = storeFileOf(directory);
  destroyPage(file, rootPage(file, "events"));
  await withStore(directory, async (store) => {
    expect(await projects(store)).toEqual(["p1"]);
    expect((await store.task("t1"))?.run.result).toBe("done");
    expect((await store.agentTotals()).map(({ agent, byStatus }) => [agent, byStatus.completed])).toEqual([
      ["explore", 1],
    ]);
    expect((await store.tasks({ search: "task t1" })).total).toBe(1);
    await create(store, "t2");
  });
  const report = readDamageReport(directory);
  expect(report).toMatchObject({ complete: false, backup: null, recovered: { tasks: 1, projects: 1, events: 0 } });
  expect(statSync(report?.setAside ?? "").size).toBeGreaterThan(0);
  expect(dismissDamageReport(directory)).toBe(true);
  expect(readDamageReport(directory)).toBeNull();
});

test("a destroyed file comes back from the newest backup, and newer tasks from tasks.json", async () => {
  const directory = temporaryFolder();
  await withStore(directory, async (store) => {
    await addProject(store, "p1");
    await create(store, "old");
    await store.apply("old", completed(2_000));
    expect((await store.notices("parent", "pending")).length).toBe(1);
  });
  const backup = makeBackup(directory, Date.parse("2026-11-16T03:00:00Z"));
  await withStore(directory, async (store) => {
    await create(store, "new");
    await addProject(store, "p2");
  });
  writeFileSync(storeFileOf(directory), GARBAGE);
  await withStore(directory, async (store) => {
    expect(await projects(store)).toEqual(["p1"]);
    expect((await store.task("old"))?.status).toBe("completed");
    expect((await store.task("new"))?.run.error).toBe("interrupted");
    // They may have been delivered since the backup was made: no notice is sent twice.
    expect(await store.notices("parent", "pending")).toEqual([]);
  });
  expect(readDamageReport(directory)).toMatchObject({ backup: backup.name, complete: false });
  // Only once: the next start is an ordinary one.
  await withStore(directory, async (store) => expect((await store.tasks({})).total).toBe(2));
});

test("a process killed while it recovers a damaged store loses nothing: the next start does it", async () => {
  const directory = temporaryFolder();
  await withStore(directory, async (store) => {
    await addProject(store, "p1");
    for (let index = 0; index < 300; index++) await create(store, `t${index}`);
  });
  const file = storeFileOf(directory);
  destroyPage(file, rootPage(file, "tasks_by_creation"));
  writeFileSync(`${file}.suspect`, "");
  rmSync(join(directory, "tasks.json"));
  const open = `(await import(${JSON.stringify(join(import.meta.dir, "../../src/store/open.ts"))})).sqliteStore`;
  const script = `await ${open}({ directory: ${JSON.stringify(directory)} })`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "inherit" });
  while (child.exitCode === null && !existsSync(`${file}.rebuilt`)) await Bun.sleep(0);
  child.kill("SIGKILL");
  await child.exited;
  await withStore(directory, async (store) => {
    expect([await projects(store), (await store.tasks({})).total]).toEqual([["p1"], 300]);
  });
  expect(readDamageReport(directory)).toMatchObject({ complete: true, recovered: { tasks: 300, projects: 1 } });
  expect(readdirSync(directory).filter((name) => /rebuilt|ready|suspect/.test(name))).toEqual([]);
});

for (const killed of ["before the old store was set aside", "before the new one was in its place"]) {
  test(`a process killed while it replaces a store, ${killed}, leaves one of the two`, async () => {
    const directory = temporaryFolder();
    await withStore(directory, (store) => addProject(store, "p1"));
    const file = storeFileOf(directory);
    const isEarly = killed.includes("old");
    copyFileSync(file, `${file}.ready`);
    if (isEarly) writeFileSync(`${file}.ready`, GARBAGE);
    else renameSync(file, `${file}.replaced-x`);
    await withStore(directory, async (store) => expect(await projects(store)).toEqual(["p1"]));
    expect(existsSync(`${file}.ready`)).toBe(false);
  });
}

test("a damaged index loses nothing", async () => {
  const directory = temporaryFolder();
  await withStore(directory, async (store) => {
    for (let index = 0; index < 50; index++) await create(store, `t${index}`);
  });
  const file = storeFileOf(directory);
  destroyPage(file, rootPage(file, "tasks_by_creation"));
  writeFileSync(`${file}.suspect`, "");
  await withStore(directory, async (store) => expect((await store.tasks({ search: "task" })).total).toBe(50));
  expect(readDamageReport(directory)).toMatchObject({ complete: true, recovered: { tasks: 50, events: 50 } });
});

test("backups are complete, private, and limited in number; a damaged store makes none", async () => {
  const directory = temporaryFolder();
  await withStore(directory, (store) => create(store, "t1"));
  for (let day = 1; day <= 9; day++) makeBackup(directory, Date.parse(`2026-11-0${day}T00:00:00Z`));
  const backups = backupsIn(directory);
  expect(backups.map(({ name }) => name.slice(12, 22))).toEqual([9, 8, 7, 6, 5, 4, 3].map((day) => `2026-11-0${day}`));
  for (const { file } of backups) expect(statSync(file).mode & 0o777).toBe(0o600);
  const leftover = join(directory, "backups", "asyncagents-2026-11-01T00-00-00Z.db.part");
  writeFileSync(leftover, "of a killed process");
  utimesSync(leftover, 0, 0);
  makeBackup(directory, Date.parse("2026-11-09T00:00:00Z"));
  expect(existsSync(leftover)).toBe(false);
  destroyPage(storeFileOf(directory), rootPage(storeFileOf(directory), "tasks"));
  expect(() => makeBackup(directory, Date.parse("2026-11-10T00:00:00Z"))).toThrow(/damaged|malformed/);
  expect(backupsIn(directory)).toEqual(backups);
  expect(readdirSync(join(directory, "backups")).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("a backup that does not fit on the disk is not started", async () => {
  for (const large of ["", "-wal"]) {
    const directory = temporaryFolder();
    await withStore(directory, (store) => create(store, "t1"));
    const file = `${storeFileOf(directory)}${large}`;
    writeFileSync(file, "", { flag: "a" });
    // Sparse: it takes no space itself.
    truncateSync(file, 8 * 1024 ** 4);
    let thrown: unknown;
    try {
      makeBackup(directory, Date.now());
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("disk") });
    expect(readdirSync(join(directory, "backups"))).toEqual([]);
  }
});

test("a backup is restored only while no process uses the store, and the old store is kept", async () => {
  const directory = temporaryFolder();
  await withStore(directory, (store) => create(store, "t1"));
  const backup = makeBackup(directory, Date.now());
  await withStore(directory, async (store) => {
    await create(store, "t2");
    expect(() => restoreBackup(directory, backup)).toThrow("The store is in use");
  });
  const { setAside } = restoreBackup(directory, backup);
  expect(existsSync(setAside ?? "")).toBe(true);
  await withStore(directory, async (store) => {
    expect((await store.tasks({})).tasks.map(({ id }) => id)).toEqual(["t1"]);
  });
  expect(readFileSync(backup.file).length).toBe(backup.bytes);
});
