import { describe, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Client } from "pg";
import { delayingProxy } from "../../../bench/postgres/delaying-proxy.ts";
import type { TaskEvent } from "../../../src/model/events.ts";
import { noProgress } from "../../../src/model/progress.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(30_000);

const connectionString = await startPostgres();
let schemas = 0;
let schema = "";

async function openStores(count: number, address = connectionString): Promise<Store[]> {
  schema = `feed_${schemas++}`;
  const stores: Store[] = [];
  for (let opened = 0; opened < count; opened++) {
    stores.push(await postgresStore({ connectionString: address, schema }));
  }
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return stores;
}

/** A connection of somebody else. */
async function foreignClient(): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

function progressed(at: number, toolCalls: number): TaskEvent {
  return { type: "run.progressed", at, run: 0, progress: { ...noProgress(at), toolCalls } };
}

describe("the order of the feed", () => {
  test("an event gets its place with its commit, which also wakes the listeners: nothing follows", async () => {
    const proxy = await delayingProxy(connectionString, 0);
    onTestFinished(() => proxy.close());
    const [store, other] = (await openStores(2, proxy.connectionString)) as [Store, Store];
    await create(store, "a");
    // The first call says that it listens.
    const calls: number[] = [];
    await new Promise<void>((resolve) => {
      onTestFinished(
        other.onChange(() => {
          calls.push(performance.now());
          resolve();
        }),
      );
    });
    await Bun.sleep(200);
    const [before, heard] = [proxy.trips, calls.length];
    await store.apply("a", progressed(2, 1));
    await Bun.sleep(200);
    expect([proxy.trips - before, calls.length - heard]).toEqual([3, 1]);
    const client = await foreignClient();
    const { rows } = await client.query(`select count(*) from ${schema}.events where place is null`);
    expect(rows).toEqual([{ count: "0" }]);
  });

  test("a write does not wait for somebody who orders the feed", async () => {
    const [store] = (await openStores(1)) as [Store];
    await create(store, "a");
    const client = await foreignClient();
    await client.query(`begin; select place from ${schema}.feed_end for update`);
    expect((await store.apply("a", progressed(2, 1))).changed).toBe(true);
    expect((await store.apply("a", completed(3))).changed).toBe(true);
    const reading = store.feed(0);
    await client.query("commit");
    expect((await reading).map(({ event }) => event.type)).toEqual(["task.created", "run.progressed", "run.completed"]);
  });
});
