import { Database as Sqlite } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/model/errors.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { storeFailure } from "../../src/store/sqlite/failure.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { storeConformance } from "../../src/testing/conformance/store/store-conformance.ts";
import { create } from "../../src/testing/sample-task.ts";
import { expectMigrated } from "./schemas/schema-1.ts";
import { expectBoardAdded } from "./schemas/schema-2.ts";
import { expectMergesAdded } from "./schemas/schema-3.ts";
import { expectNamesShortened } from "./schemas/schema-27.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();

storeConformance("sqlite", async () => {
  const directory = temporaryFolder();
  return () => sqliteStore({ directory });
});

test("whoever calls often pushes only its own entries out of the audit log", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  const entry = (by: string) => store.access.openAudit({ at: 1, by, operation: "cancel", subject: by });
  for (let count = 0; count < 5; count++) await entry("quiet");
  const file = new Sqlite(join(directory, "asyncagents.db"));
  const insert = file.query("insert into audit (at, by, operation, outcome) values (1, 'loud', 'cancel', 'failed')");
  file.transaction(() => {
    for (let count = 0; count < 100_000; count++) insert.run();
  })();
  for (let count = 0; count < 200; count++) await entry("loud");
  const counts = file.query("select by, count(*) entries from audit group by by order by by").values();
  file.close();
  const [loud, quiet] = counts as [[string, number], [string, number]];
  expect(quiet).toEqual(["quiet", 5]);
  expect(loud[1]).toBeLessThanOrEqual(100_100);
  expect((await store.access.audit({ subject: "quiet" })).length).toBe(5);
  await store.close();
});

test("in a full audit log, calls push out the caller's own entries, also if others have more", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  const file = new Sqlite(join(directory, "asyncagents.db"));
  const entries = { owner: 60_000, launch: 20_000, "launch (agent)": 19_950, quiet: 50 };
  const insert = file.query("insert into audit (at, by, operation, outcome) values (1, ?, 'cancel', 'failed')");
  file.transaction(() => {
    for (const [by, count] of Object.entries(entries)) for (let index = 0; index < count; index++) insert.run(by);
  })();
  const write = async (by: readonly string[], count: number) => {
    for (let index = 0; index < count; index++) {
      const entry = { at: 2, by: by[index % by.length] ?? "", operation: "cancel", subject: null };
      await store.access.openAudit(entry);
    }
  };
  const counts = () =>
    Object.fromEntries(file.query("select by, count(*) from audit group by by").values() as [string, number][]);
  // Whoever happens to write when the surplus is removed.
  await write(["launch", "launch (agent)"], 199);
  await write(["owner"], 1);
  expect(counts()).toMatchObject({ owner: 60_000, quiet: 50 });
  // Who has few entries makes room for them where the most are.
  await write(["quiet"], 200);
  expect(counts()).toMatchObject({ owner: 59_800, quiet: 250 });
  file.close();
  await store.close();
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("sqlite files", () => {
  test("the folder is created, and only its owner can read it", async () => {
    const directory = join(temporaryFolder(), "deep", "home");
    const store = await sqliteStore({ directory });
    await create(store, "a");
    const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o777] as const);
    expect(Object.fromEntries(modes)).toEqual({
      "asyncagents.db": 0o600,
      "asyncagents.db-shm": 0o600,
      "asyncagents.db-wal": 0o600,
      "asyncagents.lock": 0o600,
    });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    await store.close();
    expect(readdirSync(directory).sort()).toEqual(["asyncagents.db", "asyncagents.lock", "tasks.json"]);
  });

  test("a path that cannot hold a store gives an error that names the folder and what to do", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "taken", "asyncagents.db"), { recursive: true });
    for (const directory of [join(folder, "file", "home"), join(folder, "file"), join(folder, "taken")]) {
      const refused = await sqliteStore({ directory }).catch((thrown) => thrown);
      expect(refused).toMatchObject({ code: "store_unavailable" });
      expect(refused.message).toContain(`Make ${directory} a folder that you may write to`);
    }
  });

  test("a full disk is store_unavailable and says which folder needs space", () => {
    const small = new Sqlite(":memory:");
    small.run("create table t (a)");
    small.run("pragma max_page_count = 2");
    const full = catching(() => small.run("insert into t values (zeroblob(100000))"));
    const failure = storeFailure(full, "/srv/someone/asyncagents.db");
    expect(failure).toMatchObject({ code: "store_unavailable" });
    expect(messageOf(failure)).toContain("Free some space on the disk that holds /srv/someone,");
  });
});

describe("sqlite locks", () => {
  test("waiting for a lock does not block the thread, and gives up with what to do", async () => {
    const file = join(temporaryFolder(), "asyncagents.db");
    const database = await sqliteDatabase({ file, patience: 600 });
    const other = new Sqlite(file);
    other.run("begin immediate");
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const refused = await database.write(async () => {}).catch((thrown) => thrown);
    clearInterval(timer);
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toContain("Another process keeps it locked");
    expect(turns).toBeGreaterThan(0);

    const waiting = database.write(async () => "written");
    await nextTurn();
    other.run("rollback");
    expect(await waiting).toBe("written");
    other.close();
    await database.close();
  });

  test("many writes in a row let timers run in between", async () => {
    const store = await sqliteStore({ directory: temporaryFolder() });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    for (let index = 0; index < 200; index++) await create(store, `t${index}`);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    await store.close();
  });

  test("a write that changes nothing causes no change signal", async () => {
    const store = await sqliteStore({ directory: temporaryFolder() });
    let changes = 0;
    store.onChange(() => changes++);
    await store.closeLaunch("nothing");
    await store.apply("nothing", { type: "task.cleared", at: 1 });
    await nextTurn();
    expect(changes).toBe(0);
    await create(store, "a");
    await nextTurn();
    expect(changes).toBe(1);
    await store.close();
  });
});

describe("sqlite schema", () => {
  test("a process that is older than the store can read, and refuses to write with advice to upgrade", async () => {
    const directory = temporaryFolder();
    const store = await sqliteStore({ directory });
    await create(store, "a");
    const newer = new Sqlite(join(directory, "asyncagents.db"));
    newer.run("update meta set value = '99' where key = 'schema_version'");
    newer.run("alter table tasks add column later text");
    newer.close();
    const late = await sqliteStore({ directory });
    for (const older of [store, late]) {
      expect((await older.task("a"))?.id).toBe("a");
      const refused = await create(older, "b").catch((thrown) => thrown);
      expect(refused).toMatchObject({ code: "store_too_new" });
      expect(refused.message).toContain("Upgrade asyncagents");
      expect((await older.tasks({})).total).toBe(1);
    }
    await Promise.all([store.close(), late.close()]);
  });

  test("a store of schema 1 gets its totals, its search and its history", async () => {
    const directory = temporaryFolder();
    const first = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
    await expectMigrated(first, () => sqliteStore({ directory }));
  });

  test("a store of schema 2 gets the board", async () => {
    const directory = temporaryFolder();
    const second = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
    await expectBoardAdded(second, () => sqliteStore({ directory }));
  });

  test("a store of schema 3 gets a place for merges", async () => {
    const directory = temporaryFolder();
    const third = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
    await expectMergesAdded(third, () => sqliteStore({ directory }));
  });

  test("a store of schema 27 gets shorter names, and what has them can end", async () => {
    const directory = temporaryFolder();
    const earlier = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
    await expectNamesShortened(earlier, () => sqliteStore({ directory }));
  });

  test("the search forgets a task that was removed from the file, and the file stays intact", async () => {
    const directory = temporaryFolder();
    const store = await sqliteStore({ directory });
    for (const id of ["one", "two"]) await create(store, id, { description: "wanted" });
    const raw = new Sqlite(join(directory, "asyncagents.db"));
    raw.run("delete from tasks where id = 'one'");
    expect(raw.query("select count(*) as found from task_search where task_search match 'wanted'").get()).toEqual({
      found: 1,
    });
    expect(raw.query("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    raw.close();
    await store.close();
  });
});

function catching(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
}
