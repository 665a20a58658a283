/** Another server takes over, as a standby does that did not get the last transactions of the first one. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { postgresStore } from "../../../src/store/open.ts";
import { create } from "../../../src/testing/sample-task.ts";
import { commitProxy } from "../commit-proxy.ts";
import { startPostgresServer } from "../postgres-server.ts";

const [first, standby] = await Promise.all([startPostgresServer(), startPostgresServer()]);

async function useUpNumbers(connectionString: string, count: number): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  for (let number = 0; number < count; number++) await client.query("select pg_current_xact_id()");
  await client.end();
}

/** Writes while the first server goes away before the commit. Returns the tasks of the one that takes over. */
async function writtenAcross(ids: readonly string[]): Promise<string[]> {
  const there = await postgresStore({ connectionString: standby.connectionString });
  const proxy = await commitProxy(first.connectionString);
  const store = await postgresStore({ connectionString: proxy.connectionString });
  proxy.moveTo = standby.connectionString;
  proxy.breakNext = "before";
  for (const id of ids) await create(store, id);
  const { tasks } = await there.tasks({});
  await Promise.all([store.close(), there.close()]);
  return tasks.map(({ id }) => id);
}

test("a commit that was lost with its server is run again on the one that took over", async () => {
  // The standby is behind.
  await useUpNumbers(first.connectionString, 500);
  expect((await writtenAcross(["a", "b"])).toSorted()).toEqual(["a", "b"]);
}, 60_000);

test("a commit that was lost is run again, although its number is that of another transaction by now", async () => {
  // As after a crash: whoever comes back first gets the numbers that were not written yet.
  await useUpNumbers(standby.connectionString, 2_000);
  expect(await writtenAcross(["c"])).toContain("c");
}, 60_000);
