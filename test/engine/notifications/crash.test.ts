/** kill -9 of processes that send notifications, and two at once: nothing is forgotten, and each keeps its id. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../../store/postgres-server.ts";
import { notifierBed } from "./notifier-bed.ts";
import { receiver } from "./receiver.ts";

const connectionString = await startPostgres();
const children = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all([...children].map(({ exited }) => exited));
});

/** Resolves when it is ready. */
async function child(...words: string[]) {
  const started = Bun.spawn([process.execPath, join(import.meta.dir, "notifier-child.ts"), ...words], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  children.add(started);
  const { value } = await started.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("ready\n");
  return started;
}

async function endAll(store: Store, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await create(store, id);
    await store.apply(id, completed(Date.now()));
  }
}

const whenDelivered = (store: Store, count: number) =>
  eventually(store, async () => {
    const all = await store.notifications.list({ state: "delivered", limit: 200 });
    return all.length === count ? all : null;
  });

test("kill -9 between sending and recording: it is sent again under the same id, and what waited is sent once", async () => {
  const { store, folder } = await notifierBed();
  const hook = receiver();
  const first = await child(folder, hook.url, "0", "die");
  await endAll(store, ["t1", "t2", "t3"]);
  await first.exited;
  expect(hook.received.map(({ json }) => json.task.id)).toEqual(["t1"]);
  await child(folder, hook.url, "2");
  const sent = await hook.has(4);
  await whenDelivered(store, 3);
  const ids = sent.map(({ json }) => json.id);
  expect(sent.map(({ json }) => json.task.id).toSorted()).toEqual(["t1", "t1", "t2", "t3"]);
  expect(new Set(ids).size).toBe(3);
  expect(ids.filter((id) => id === ids[0])).toHaveLength(2);
}, 30_000);

test("kill -9 at any moment, again and again: all arrive, and at most one is doubled for each kill", async () => {
  const { store, folder } = await notifierBed();
  const hook = receiver();
  const tasks = Array.from({ length: 30 }, (_, index) => `t${index}`);
  let sender = await child(folder, hook.url, "0");
  const ending = endAll(store, tasks);
  for (const [kill, count] of [3, 9, 16, 24].entries()) {
    await hook.has(count);
    sender.kill("SIGKILL");
    await sender.exited;
    sender = await child(folder, hook.url, String(2 * (kill + 1)));
  }
  await ending;
  const delivered = await whenDelivered(store, 30);
  const idOf = new Map(delivered.map(({ id, content }) => [content.taskId, id]));
  expect([...idOf.keys()].toSorted()).toEqual(tasks.toSorted());
  for (const { json } of hook.received) expect(json.id).toBe(idOf.get(json.task.id));
  expect(hook.received.length).toBeWithin(30, 35);
}, 60_000);

test("two processes on PostgreSQL: each notification is sent once", async () => {
  const store = await postgresStore({ connectionString });
  const hook = receiver();
  await child(connectionString, hook.url);
  await child(connectionString, hook.url);
  const tasks = Array.from({ length: 40 }, (_, index) => `p${index}`);
  await Promise.all(
    [0, 1, 2, 3].map((part) =>
      endAll(
        store,
        tasks.filter((_, index) => index % 4 === part),
      ),
    ),
  );
  await whenDelivered(store, 40);
  expect(hook.received.map(({ json }) => json.task.id).toSorted()).toEqual(tasks.toSorted());
  expect(new Set(hook.received.map(({ json }) => json.id)).size).toBe(40);
  await store.close();
}, 60_000);
