/** Another server takes over, as a standby does that did not get the last transactions of the first one. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { postgresStore } from "../../../src/store/open.ts";
import { create } from "../../../src/testing/sample-task.ts";
import { commitProxy } from "../commit-proxy.ts";
import { startPostgresServer } from "../postgres-server.ts";

const [first, standby] = await Promise.all([startPostgresServer(), startPostgresServer()]);

test("a commit that was lost with its server is run again on the one that took over", async () => {
  const client = new Client({ connectionString: first.connectionString });
  await client.connect();
  // The standby is behind.
  for (let number = 0; number < 500; number++) await client.query("select pg_current_xact_id()");
  await client.end();
  const there = await postgresStore({ connectionString: standby.connectionString });
  const proxy = await commitProxy(first.connectionString);
  const store = await postgresStore({ connectionString: proxy.connectionString });
  proxy.moveTo = standby.connectionString;
  proxy.breakNext = "before";
  await create(store, "a");
  await create(store, "b");
  expect((await there.tasks({})).tasks.map(({ id }) => id).toSorted()).toEqual(["a", "b"]);
  await Promise.all([store.close(), there.close()]);
}, 60_000);

test("a commit that was lost is run again, although its number is that of another transaction by now", async () => {
  // As after a crash: whoever comes back first gets the numbers that were not written yet.
  const client = new Client({ connectionString: standby.connectionString });
  await client.connect();
  for (let number = 0; number < 2_000; number++) await client.query("select pg_current_xact_id()");
  await client.end();
  const there = await postgresStore({ connectionString: standby.connectionString });
  const proxy = await commitProxy(first.connectionString);
  const store = await postgresStore({ connectionString: proxy.connectionString });
  proxy.moveTo = standby.connectionString;
  proxy.breakNext = "before";
  await create(store, "c");
  expect((await there.tasks({})).tasks.map(({ id }) => id)).toContain("c");
  await Promise.all([store.close(), there.close()]);
}, 60_000);
