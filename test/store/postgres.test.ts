import { describe, expect, test } from "bun:test";
import { Client } from "pg";
import { freePort } from "../../src/process/free-port.ts";
import { postgresStore } from "../../src/store/open.ts";
import { postgresDatabase } from "../../src/store/postgres/postgres-database.ts";
import type { Store } from "../../src/store/store.ts";
import { storeConformance } from "../../src/testing/conformance/store/store-conformance.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { create, newTask } from "../../src/testing/sample-task.ts";
import { commitProxy } from "./commit-proxy.ts";
import { startPostgres } from "./postgres-server.ts";
import { expectMigrated } from "./schemas/schema-1.ts";
import { expectBoardAdded } from "./schemas/schema-2.ts";
import { expectMergesAdded } from "./schemas/schema-3.ts";
import { expectNamesShortened } from "./schemas/schema-27.ts";

const connectionString = await startPostgres();
let schemas = 0;

function freshSchema(): () => Promise<Store> {
  const schema = `Store "${schemas++}"`;
  return () => postgresStore({ connectionString, schema });
}

async function asAdministrator(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

storeConformance("postgres", async () => freshSchema());

describe("postgres driver", () => {
  test("a store of schema 1 gets its totals, its search and its history", async () => {
    const schema = "Schema one";
    const first = await postgresDatabase({ connectionString, schema });
    await expectMigrated(first, () => postgresStore({ connectionString, schema }));
  });

  test("a store of schema 2 gets the board", async () => {
    const schema = "Schema two";
    const second = await postgresDatabase({ connectionString, schema });
    await expectBoardAdded(second, () => postgresStore({ connectionString, schema }));
  });

  test("a store of schema 3 gets a place for merges", async () => {
    const schema = "Schema three";
    const third = await postgresDatabase({ connectionString, schema });
    await expectMergesAdded(third, () => postgresStore({ connectionString, schema }));
  });

  test("a store of schema 27 gets shorter names, and what has them can end", async () => {
    const schema = "Schema 27";
    const earlier = await postgresDatabase({ connectionString, schema });
    await expectNamesShortened(earlier, () => postgresStore({ connectionString, schema }));
  });

  test("a damaged task does not fail the reads of others that are gathered with it", async () => {
    const store = await postgresStore({ connectionString, schema: "damaged" });
    for (const id of ["whole", "damaged"]) await create(store, id);
    await asAdministrator("update damaged.tasks set progress = 'no json' where id = 'damaged'");
    const read = await Promise.allSettled(["whole", "damaged"].map((id) => store.task(id)));
    expect(read.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await store.close();
  });

  test("the search has an index; without the right to make one it finds the same", async () => {
    await asAdministrator("create database plain");
    await asAdministrator("create role plain login password 'password'");
    const elsewhere = new URL(connectionString);
    elsewhere.pathname = "/plain";
    const administrator = new Client({ connectionString: elsewhere.href });
    await administrator.connect();
    await administrator.query("create schema own authorization plain");
    await administrator.end();
    elsewhere.username = "plain";
    const stores = [
      await postgresStore({ connectionString, schema: "indexed" }),
      await postgresStore({ connectionString: elsewhere.href, schema: "own" }),
    ];
    for (const store of stores) {
      await create(store, "a", { description: "Grüße an die Zahlung" });
      await create(store, "b", { description: "payment_gateway: 100% done" });
      await store.apply("a", { type: "run.failed", at: 2, run: 0, error: "No Quota", progress: null });
      const found = async (search: string) => (await store.tasks({ search })).tasks.map(({ id }) => id);
      const words = ["zahlung GRÜSSE", "grüße", "gate", "T_G", "0%", "quota", "qu", "zz"];
      expect(await Promise.all(words.map(found))).toEqual([[], ["a"], ["b"], ["b"], ["b"], ["a"], ["a"], []]);
    }
    const indexes =
      "select schemaname from pg_indexes where indexname = 'task_search_words' and schemaname = 'indexed'";
    expect(await asAdministrator(indexes)).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("many processes can open and create a new store at once", async () => {
    const open = freshSchema();
    const stores = await Promise.all(Array.from({ length: 4 }, open));
    await Promise.all(stores.map((store, index) => create(store, `t${index}`)));
    expect((await stores[0]?.tasks({}))?.total).toBe(4);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("lines of the queue that nobody waits in do not stop those who claim", async () => {
    const schema = "lines";
    const store = await postgresStore({ connectionString, schema });
    // One for each model that anybody ever named: more than a statement may have parameters.
    const rows = "select 'line-' || n, 'scripted', 'any/' || n, '[]', null from generate_series(1, 70000) n";
    await asAdministrator(`insert into ${schema}.queue_lines (line, host, model, labels, machine) ${rows}`);
    const needs = { host: "scripted", model: "p/m", labels: [], machine: null, remote: null };
    const run = { ...needs, taskId: "a", priority: 0, retries: 0, source: null, bound: null, limits: {} };
    await store.queue.open(run);
    await store.write(async (transaction) => {
      await transaction.enqueue(run);
      const task = newTask("a", { sessionId: "", messageId: "", owner: null, model: "p/m" });
      return transaction.apply("a", { type: "task.created", at: 1, task });
    });
    const offer = { runner: "runner", hosts: ["scripted"], labels: [], machine: "here", limits: { total: 1 } };
    const claimed = await store.queue.claim({ ...offer, count: 1, leaseMs: 60_000, at: 1_000 });
    expect(claimed.map(({ taskId }) => taskId)).toEqual(["a"]);
    await store.close();
  });

  test("a lost listening connection comes back, and changes made meanwhile are noticed", async () => {
    const open = freshSchema();
    const [listener, writer] = (await Promise.all([open(), open()])) as [Store, Store];
    // The first call shows that it is listening.
    await new Promise<void>((resolve) => listener.onChange(resolve));
    const afterLoss = eventually(listener, () => listener.task("after"));
    const ended = await asAdministrator(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and pid <> pg_backend_pid()",
    );
    expect(ended.length).toBeGreaterThan(0);
    await create(writer, "after");
    expect((await afterLoss).id).toBe("after");
    await Promise.all([listener.close(), writer.close()]);
  });

  test("a commit whose answer is lost counts, and one that never arrived does not", async () => {
    const proxy = await commitProxy(connectionString);
    const store = await postgresStore({ connectionString: proxy.connectionString, schema: "Lost answers" });
    proxy.breakNext = "after";
    const created = await store.apply("a", { type: "task.created", at: 1, task: newTask("a") });
    expect(created).toMatchObject({ changed: true, task: { id: "a" } });
    expect(proxy.breakNext).toBeNull();
    // It is run again. The first one may be that of an announcement.
    const ids = ["a"];
    for (let tries = 0; tries < 2; ) {
      tries = 0;
      const id = `b${ids.length}`;
      proxy.breakNext = "before";
      await store.write(async (transaction) => {
        tries++;
        await transaction.apply(id, { type: "task.created", at: 2, task: newTask(id) });
      });
      ids.push(id);
    }
    expect((await store.feed(0)).map(({ taskId }) => taskId)).toEqual(ids);
    await store.close();
  });

  test("a write whose connection is ended in the middle leaves nothing behind and is run again", async () => {
    const store = await freshSchema()();
    const found: (string | undefined)[] = [];
    await store.write(async (transaction) => {
      found.push((await transaction.task("a"))?.id);
      await transaction.apply("a", { type: "task.created", at: 1, task: newTask("a") });
      if (found.length === 1) {
        await asAdministrator(
          "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and application_name = 'asyncagents'",
        );
      }
      return transaction.task("a");
    });
    expect(found).toEqual([undefined, undefined]);
    expect((await store.feed(0)).map(({ taskId }) => taskId)).toEqual(["a"]);
    await store.close();
  });

  test("an unreachable server is store_unavailable and says what to do, without the password", async () => {
    const nowhere = `postgres://someone:secret-word@127.0.0.1:${await freePort()}/none`;
    const refused = await postgresStore({ connectionString: nowhere }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toContain("Check that the server runs");
    expect(refused.message).not.toContain("secret-word");
  });

  test("a user who may not create the schema, or has too many connections, is told what to check", async () => {
    await asAdministrator("create role reader login password 'password'");
    await asAdministrator("create role limited login password 'password' connection limit 0");
    for (const [user, advice] of [
      ["reader", "grant create on database"],
      ["limited", "Check the server's disk space, connection limit"],
    ] as const) {
      const own = connectionString.replace("postgres:password@", `${user}:password@`);
      const refused = await postgresStore({ connectionString: own, schema: user }).catch((thrown) => thrown);
      expect(refused).toMatchObject({ code: "store_unavailable" });
      expect(refused.message).toContain(advice);
    }
  });

  test("a user who may not create the schema of the queue is told so, and can do everything else", async () => {
    await asAdministrator("create role queueless login password 'password'");
    await asAdministrator("create schema queueless authorization queueless");
    const address = connectionString.replace("postgres:password@", "queueless:password@");
    const store = await postgresStore({ connectionString: address, schema: "queueless" });
    const opening = store.queue.open({ host: "scripted", model: null, labels: [], machine: null, remote: null });
    await expect(opening).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("rights"),
    });
    await create(store, "a");
    expect((await store.tasks({})).total).toBe(1);
    expect(await store.feed(0)).toHaveLength(1);
    await store.close();
  });

  test("a missing database and a server without TLS are told apart, each with what to do", async () => {
    const other = Object.assign(new URL(connectionString), { pathname: "/missing" }).href;
    const missing = await postgresStore({ connectionString: other }).catch((thrown) => thrown);
    expect(missing).toMatchObject({ code: "store_unavailable" });
    expect(missing.message).toContain("createdb");
    const encrypted = `${connectionString}?sslmode=require`;
    const plain = await postgresStore({ connectionString: encrypted }).catch((thrown) => thrown);
    expect(plain).toMatchObject({ code: "store_unavailable" });
    expect(plain.message).toContain("sslmode=disable");
    for (const { message } of [missing, plain]) expect(message).not.toContain("password@");
  });

  test("a wrong password is store_unavailable and says where to look", async () => {
    const wrong = connectionString.replace("password@", "guess@");
    const refused = await postgresStore({ connectionString: wrong }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ code: "store_unavailable" });
    expect(refused.message).toContain("connection string");
  });
});
