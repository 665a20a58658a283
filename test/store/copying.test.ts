/** Copies of a whole store between real databases: what arrives, what is refused, and what an interruption leaves. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { ownIdentity } from "../../src/process/liveness.ts";
import type { CopyAddress } from "../../src/store/copying/copy-ends.ts";
import { type CopyProgress, copyStore } from "../../src/store/copying/copy-store.ts";
import { insertRows, isEmpty } from "../../src/store/copying/table-rows.ts";
import { tableShapes } from "../../src/store/copying/table-shapes.ts";
import { postgresStore, sqliteStore } from "../../src/store/open.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import type { Store } from "../../src/store/store.ts";
import { fillBoard, sampleSession } from "../../src/testing/sample-board.ts";
import { completed, create, newTask } from "../../src/testing/sample-task.ts";
import { cliWorld } from "../cli/cli-bed.ts";
import { startPostgres } from "./postgres-server.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const connectionString = await startPostgres();
let schemas = 0;

function newSqlite(): CopyAddress & { directory: string } {
  const directory = temporaryFolder();
  return { directory, shown: directory };
}

function newPostgres(): CopyAddress & { schema: string } {
  const schema = `Copy "${schemas++}"`;
  return { connectionString, schema, shown: schema };
}

function open(address: CopyAddress): Promise<Store> {
  return "directory" in address ? sqliteStore(address) : postgresStore(address);
}

function copy(from: CopyAddress, to: CopyAddress, onProgress?: (progress: CopyProgress) => void) {
  return copyStore({ from, to, id: crypto.randomUUID(), ...(onProgress && { onProgress }) });
}

const DEAD = {
  ...ownIdentity(),
  pid: 4_194_304,
  processStart: "1",
  beat: 0,
  host: "scripted",
  directory: "/w",
  machine: "",
  leaseLeft: null,
};
const NEEDS = { host: "scripted", model: null, labels: ["gpu"], machine: null, remote: null };

/** Some of everything that this version can store; several pages of tasks. */
async function fill(store: Store): Promise<void> {
  await store.write(async (transaction) => {
    for (let number = 0; number < 450; number++) {
      const task = newTask(`t${number}`, { description: `Ünï "cödé" 🌍 ${number}`, batchId: `b${number >> 3}` });
      await transaction.apply(task.id, { type: "task.created", at: number, task });
      if (number % 2) await transaction.apply(task.id, completed(number + 1));
    }
  });
  await store.addInstance({ ...DEAD, id: "dead", startedAt: 1 });
  await fillBoard(store);
  await store.board.addSession(sampleSession("s", { taskId: "t1" }));
  const followUp = { id: "f", sessionId: "s", prompt: "go on", variant: null, queuedAt: 1 };
  await store.board.queueFollowUp(followUp);
  await store.queue.open(NEEDS);
  await store.write(async (transaction) => {
    await transaction.enqueue({
      ...NEEDS,
      taskId: "queued",
      priority: 0,
      retries: 0,
      source: null,
      bound: null,
      limits: {},
    });
    const task = newTask("queued", { sessionId: "", messageId: "", owner: null });
    await transaction.apply("queued", { type: "task.created", at: 1, task });
  });
  // The numbers of what is gone are not given again either.
  await create(store, "gone", { batchId: "gone", parentSessionId: "" }, 0);
  await store.apply("gone", completed(1));
  await create(store, "last", { batchId: "last" });
  await store.prune({ endedBefore: 3_000, after: null, dryRun: false });
}

/** A row in each table that is still empty, whatever the table is for. */
async function fillTheRest(directory: string): Promise<string[]> {
  const database = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
  const names = await database.write(async (kysely) => {
    const tables = await tableShapes(kysely, null);
    for (const table of tables) {
      if (!(await isEmpty(kysely, table))) continue;
      const types = await typesOf(kysely, table.name);
      const value = (column: string) => {
        const type = types.get(column) ?? "";
        return type === "text" ? `${table.name} ${column}` : type === "blob" ? new Uint8Array([0, 255, 7]) : 7;
      };
      await insertRows(kysely, null, table, [Object.fromEntries(table.columns.map((each) => [each, value(each)]))]);
    }
    return tables.map(({ name }) => name);
  });
  await database.close();
  return names;
}

async function typesOf(kysely: Kysely<Schema>, table: string): Promise<Map<string, string>> {
  const columns = sql<{
    name: string;
    type: string;
  }>`select name, lower(type) as type from pragma_table_info(${table})`;
  return new Map((await columns.execute(kysely)).rows.map(({ name, type }) => [name, type]));
}

async function expectUsable(address: CopyAddress, lastSeq: number): Promise<void> {
  const store = await open(address);
  expect((await store.tasks({ search: "cödé" })).total).toBe(450);
  expect((await store.feed(0, 5_000)).at(-1)?.seq).toBe(lastSeq);
  // The numbers go on, and nothing collides.
  await create(store, "new", { batchId: "new" });
  await store.apply("new", completed(9_000));
  expect(await store.lastSeq()).toBe(lastSeq + 2);
  expect((await store.lastNotice("new"))?.state).toBe("pending");
  const offer = { runner: "r", hosts: ["scripted"], labels: ["gpu"], machine: "m" };
  const claimed = await store.queue.claim({ ...offer, count: 5, leaseMs: 60_000, at: 1, limits: {} });
  expect(claimed.map(({ taskId }) => taskId)).toEqual(["queued"]);
  await store.close();
}

test("every table arrives complete, from SQLite to PostgreSQL, to another schema, and back", async () => {
  const [first, second, third, last] = [newSqlite(), newPostgres(), newPostgres(), newSqlite()] as const;
  const store = await open(first);
  await fill(store);
  const lastSeq = await store.lastSeq();
  await store.close();
  const names = await fillTheRest(first.directory);
  const copies = [await copy(first, second), await copy(second, third), await copy(third, last)];
  for (const tables of copies) {
    expect(tables.map(({ name }) => name)).toEqual(names);
    for (const { name, rows } of tables) expect([name, rows > 0]).toEqual([name, true]);
  }
  // A ticket in the line of the queue is each store's own.
  const compared = copies.map((tables) => tables.filter(({ name }) => name !== "queued_runs"));
  expect(compared[1]).toEqual(compared[0] ?? []);
  expect(compared[2]).toEqual(compared[0] ?? []);
  for (const address of [second, third, last]) await expectUsable(address, lastSeq);
  // The source is as it was.
  const again = await open(first);
  expect(await again.lastSeq()).toBe(lastSeq);
  await again.close();
}, 180_000);

test("a store that is in use is not copied, and one that has data is not overwritten", async () => {
  const used = newSqlite();
  const store = await open(used);
  await create(store, "a");
  await expect(copy(used, newSqlite())).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("asyncagents down"),
  });
  await store.close();
  const postgres = newPostgres();
  const running = await open(postgres);
  await running.addInstance({ ...DEAD, ...ownIdentity(), id: "alive", startedAt: 1 });
  await expect(copy(postgres, newSqlite())).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("1 running engines"),
  });
  await expect(copy(used, postgres)).rejects.toMatchObject({ code: "not_empty" });
  await running.endInstance("alive");
  await running.close();
  await copy(used, postgres);
  await expect(copy(used, postgres)).rejects.toMatchObject({ code: "not_empty" });
  const full = newSqlite();
  mkdirSync(full.directory, { recursive: true });
  writeFileSync(join(full.directory, "tasks.json"), "{}");
  await expect(copy(used, full)).rejects.toMatchObject({ code: "not_empty" });
  await expect(copy(newSqlite(), newSqlite())).rejects.toMatchObject({ code: "invalid_input" });
}, 180_000);

test("an interrupted copy is refused by everybody, and made anew by the next one", async () => {
  const source = newSqlite();
  const store = await open(source);
  await fill(store);
  await store.close();
  for (const target of [newPostgres(), newSqlite()]) {
    const killed = copy(source, target, ({ step, table, rows }) => {
      if (step === "copying" && table === "tasks" && rows > 200) throw new Error("killed");
    });
    await expect(killed).rejects.toThrow("killed");
    const refused = { code: "store_unavailable", message: expect.stringContaining("incomplete copy") };
    await expect(open(target)).rejects.toMatchObject(refused);
    await expect(copy(target, newSqlite())).rejects.toMatchObject(refused);
    await copy(source, target);
    const copied = await open(target);
    expect((await copied.tasks({})).total).toBe(452);
    await copied.close();
  }
}, 180_000);

test("of two copies into one store, only one is made", async () => {
  const [source, target] = [newPostgres(), newPostgres()];
  const store = await open(source);
  for (const id of ["a", "b"]) await create(store, id);
  await store.close();
  const outcomes = await Promise.allSettled([copy(source, target), copy(source, target)]);
  const failed = outcomes.filter(({ status }) => status === "rejected");
  expect(failed).toEqual([
    expect.objectContaining({
      reason: expect.objectContaining({ message: expect.stringMatching(/Another copy|has data/) }),
    }),
  ]);
  const copied = await open(target);
  expect((await copied.tasks({})).total).toBe(2);
  await copied.close();
}, 180_000);

test("a change of the source during the copy is found, and the copy stays incomplete", async () => {
  const [source, target] = [newPostgres(), newPostgres()];
  const store = await open(source);
  await create(store, "a");
  await store.close();
  // The copy stands still until the other process is through.
  const change = () => {
    const program = [process.execPath, join(import.meta.dir, "complete-task.ts"), connectionString, source.schema, "a"];
    expect(Bun.spawnSync(program, { stderr: "inherit" }).exitCode).toBe(0);
  };
  const changed = copy(source, target, ({ step, table }) => {
    if (step === "copying" && table === "tasks") change();
  });
  const refusal = await changed.catch((thrown) => thrown);
  expect(refusal).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("differs") });
  await expect(open(target)).rejects.toMatchObject({ code: "store_unavailable" });
}, 180_000);

test("who reads the feed goes on in a copy where it was: nothing is told again", async () => {
  const source = newPostgres();
  const store = await open(source);
  await create(store, "a");
  const refused = store.write(async (transaction) => {
    const task = newTask("refused");
    await transaction.apply(task.id, { type: "task.created", at: 1, task });
    throw new Error("refused");
  });
  // It takes a number of the feed with it, so that places and numbers differ from here on.
  await expect(refused).rejects.toThrow("refused");
  await store.apply("a", completed(2_000));
  const position = { seq: await store.lastSeq(), since: 0 };
  await store.notifications.open("read", position);
  await store.apply("a", { type: "task.cleared", at: 3_000 });
  await store.notifications.open("new", { seq: 0, since: 0 });
  await store.close();
  for (const target of [newPostgres(), newSqlite()]) {
    await copy(source, target);
    const copied = await open(target);
    const left = async (channel: string) => {
      const { seq } = await copied.notifications.open(channel, position);
      return (await copied.feed(seq)).map(({ event }) => event.type);
    };
    expect(await left("read")).toEqual(["task.cleared"]);
    expect(await left("new")).toEqual(["task.created", "run.completed", "task.cleared"]);
    await copied.close();
  }
}, 180_000);

test("asyncagents store copy prints what it compared, and never a password", async () => {
  const world = cliWorld();
  const store = await sqliteStore({ directory: world.data });
  await create(store, "a");
  await store.close();
  const secret = connectionString;
  const copied = await world.json<{ to: string; tables: { name: string; rows: number; checksum: string }[] }>(
    "store",
    "copy",
    "sqlite",
    secret,
  );
  expect(copied.tables.find(({ name }) => name === "tasks")).toMatchObject({ rows: 1 });
  expect(copied.to).toBe(secret.replace(":password@", "@"));
  const folder = join(world.folder, "copy");
  const people = await world.cli("store", "copy", "sqlite", folder);
  expect(people.out).toMatch(/^ {2}tasks +1 {2}[0-9a-f]{32}$/m);
  expect(people.err).toContain(`ASYNCAGENTS_HOME=${folder}`);
  for (const [words, problem] of [
    [["sqlite", secret], "already has data"],
    [["sqlite", secret.replace("postgres://", "postgre://")], "is not the address"],
    [["sqlite", secret.replace(/:\d+\//, ":1/")], "Check that the server runs"],
    [["sqlite", "postgres"], "ASYNCAGENTS_STORE is not set"],
    [["sqlite", world.data], "two different stores"],
  ] as const) {
    const { code, out, err } = await world.cli("store", "copy", ...words);
    expect([words, code === 0, err]).toEqual([words, false, expect.stringContaining(problem)]);
    expect(out + err).not.toContain(":password@127");
  }
}, 180_000);
