/** Lines of waiting runs whose jobs are not as our own tables say, and where claims find the runs all the same. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Client } from "pg";
import { delayingProxy } from "../../../bench/postgres/delaying-proxy.ts";
import { copyStore } from "../../../src/store/copying/copy-store.ts";
import { postgresStore, sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { newTask } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../postgres-server.ts";
import { temporaryFolders } from "../temporary-folder.ts";

// On a busy machine.
setDefaultTimeout(60_000);

const temporaryFolder = temporaryFolders();
const connectionString = await startPostgres();

async function asAdministrator(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

async function enqueue(store: Store, taskId: string, model: string | null = null): Promise<void> {
  const needs = { host: "scripted", model, labels: [], machine: null, remote: null };
  await store.queue.open(needs);
  const task = newTask(taskId, { sessionId: "", messageId: "", owner: null, model });
  const run = { ...needs, taskId, priority: 0, retries: 0, source: null, bound: null, limits: {} };
  await store.queue.enqueue(run, { type: "task.created", at: 1, task });
}

async function claim(store: Store, count = 30): Promise<string[]> {
  const offer = { runner: "runner", hosts: ["scripted"], labels: [], machine: "here", limits: {} };
  const claimed = await store.queue.claim({ ...offer, count, leaseMs: 60_000, at: 1_000 });
  return claimed.map(({ taskId }) => taskId);
}

test("runs are claimed whose lines did not come along when the database was restored", async () => {
  const schema = "restored";
  const before = await postgresStore({ connectionString, schema });
  await enqueue(before, "a");
  await enqueue(before, "b", "p/m");
  await before.close();
  await asAdministrator(`drop schema ${schema}_queue cascade`);
  const stores = await Promise.all(Array.from({ length: 3 }, () => postgresStore({ connectionString, schema })));
  const claimed = await Promise.all(stores.map(claim));
  expect(claimed.flat().toSorted()).toEqual(["a", "b"]);
  await Promise.all(stores.map((store) => store.close()));
});

test("runs that lost their place in a line that is there are claimed, and the others keep theirs", async () => {
  const schema = "emptied";
  const before = await postgresStore({ connectionString, schema });
  for (const id of ["a", "b", "c"]) await enqueue(before, id);
  await before.close();
  await asAdministrator(`delete from ${schema}_queue.job where data->>'taskId' = 'b'`);
  const store = await postgresStore({ connectionString, schema });
  expect(await claim(store)).toEqual(["a", "b", "c"]);
  expect(await claim(store)).toEqual([]);
  await store.close();
});

/** Who waits in the lines, as pg-boss has it. */
async function inLines(schema: string): Promise<unknown[]> {
  const rows = await asAdministrator(`select data->>'taskId' as id from ${schema}_queue.job order by 1`);
  return rows.map(({ id }) => id);
}

test("jobs that no run answers to, as a second copy leaves them, are gone when the store is opened", async () => {
  const [schema, directory] = ["stale", temporaryFolder()];
  const source = await sqliteStore({ directory });
  for (const id of ["a", "b", "c"]) await enqueue(source, id);
  await source.close();
  for (const id of ["first", "second"]) {
    await asAdministrator(`drop schema if exists ${schema} cascade`);
    await copyStore({ id, from: { directory, shown: "source" }, to: { connectionString, schema, shown: "target" } });
  }
  expect(await inLines(schema)).toEqual(["a", "a", "b", "b", "c", "c"]);
  // As a database has it of which only a part was restored.
  await asAdministrator(`delete from ${schema}.queued_runs where task_id = 'b'`);
  const stores = await Promise.all(Array.from({ length: 3 }, () => postgresStore({ connectionString, schema })));
  expect(await inLines(schema)).toEqual(["a", "c"]);
  const [store] = stores as [Store];
  expect([await claim(store), await claim(store)]).toEqual([["a", "c"], []]);
  expect(await inLines(schema)).toEqual([]);
  await Promise.all(stores.map((each) => each.close()));
});

test("a run is claimed at once although jobs that no run answers to are before it", async () => {
  const schema = "behind";
  const store = await postgresStore({ connectionString, schema });
  for (let index = 0; index < 20; index++) await enqueue(store, `gone ${index}`);
  for (const id of ["a", "b"]) await enqueue(store, id);
  await asAdministrator(`delete from ${schema}.queued_runs where task_id like 'gone %'`);
  expect(await claim(store, 4)).toEqual(["a", "b"]);
  await store.close();
});

test("a claim does not take more than a hundred jobs for nothing: the next one goes on", async () => {
  const schema = "far_behind";
  const store = await postgresStore({ connectionString, schema });
  await enqueue(store, "gone");
  await asAdministrator(
    `insert into ${schema}_queue.job (name, data) select name, data from ${schema}_queue.job, generate_series(1, 149)`,
  );
  await asAdministrator(`delete from ${schema}.queued_runs`);
  await enqueue(store, "a");
  expect(await claim(store, 4)).toEqual([]);
  expect(await inLines(schema)).toHaveLength(51);
  expect(await claim(store, 4)).toEqual(["a"]);
  await store.close();
});

test("what a runner that is gone had claimed waits again after as many round trips as one run: heartbeats wait for it", async () => {
  const schema = "gone";
  const proxy = await delayingProxy(connectionString, 0);
  onTestFinished(() => proxy.close());
  const store = await postgresStore({ connectionString: proxy.connectionString, schema });
  onTestFinished(() => store.close());
  const ids = Array.from({ length: 20 }, (_, index) => `task_${String(index).padStart(2, "0")}`);
  const tripsOf = async (some: readonly string[]) => {
    for (const id of some) await enqueue(store, id);
    expect(await claim(store)).toEqual([...some]);
    const before = proxy.trips;
    await store.endInstance("runner");
    return proxy.trips - before;
  };
  const one = await tripsOf(ids.slice(0, 1));
  expect(await claim(store)).toEqual(ids.slice(0, 1));
  expect(await tripsOf(ids.slice(1))).toBeLessThan(one + 4);
  expect(await claim(store)).toEqual(ids);
});

test("a run is claimed although the database's clock was set back since it was queued", async () => {
  const schema = "set_back";
  const store = await postgresStore({ connectionString, schema });
  await enqueue(store, "a");
  await asAdministrator(`update ${schema}_queue.job set start_after = start_after + interval '1 hour'`);
  expect(await claim(store)).toEqual(["a"]);
  await store.close();
});
