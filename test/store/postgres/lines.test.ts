/** Lines of waiting runs whose jobs are not as our own tables say, and where claims find the runs all the same. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Client } from "pg";
import { delayingProxy } from "../../../bench/postgres/delaying-proxy.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { newTask } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(60_000);

const connectionString = await startPostgres();

async function asAdministrator(sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function enqueue(store: Store, taskId: string, model: string | null = null): Promise<void> {
  const needs = { host: "scripted", model, labels: [], machine: null, remote: null };
  await store.queue.open(needs);
  const task = newTask(taskId, { sessionId: "", messageId: "", owner: null, model });
  const run = { ...needs, taskId, priority: 0, retries: 0, source: null, bound: null, limits: {} };
  await store.queue.enqueue(run, { type: "task.created", at: 1, task });
}

async function claim(store: Store): Promise<string[]> {
  const offer = { runner: "runner", hosts: ["scripted"], labels: [], machine: "here", limits: {} };
  const claimed = await store.queue.claim({ ...offer, count: 30, leaseMs: 60_000, at: 1_000 });
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
