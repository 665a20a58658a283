import { expect, setDefaultTimeout, test } from "bun:test";
import pg from "pg";
import { fillSchema, WORDS } from "../../bench/postgres/stored/filled-schema.ts";
import type { Task } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import { postgresStore } from "../../src/store/open.ts";
import { create } from "../../src/testing/sample-task.ts";
import { startPostgres } from "../store/postgres-server.ts";

// On a busy machine.
setDefaultTimeout(60_000);

const connectionString = await startPostgres();
const [written, times] = [200, 3];

test("copied rows are what the store writes: the feed replays to the tasks, and all figures agree", async () => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await fillSchema(client, { connectionString, schema: "filled", written, times });
  await client.end();
  const store = await postgresStore({ connectionString, schema: "filled" });
  const replayed = new Map<string, Task>();
  let seq = 0;
  for (const entry of await store.feed(0, 5_000)) {
    expect(entry.seq).toBeGreaterThan(seq);
    seq = entry.seq;
    const { task } = transition(replayed.get(entry.taskId) ?? null, entry.event);
    if (task) replayed.set(entry.taskId, task);
  }
  const { tasks, total } = await store.tasks({ limit: 200 });
  expect([total, replayed.size, seq]).toEqual([written * times, written * times, await store.lastSeq()]);
  for (const task of tasks) {
    const { startedAt: _one, completedAt: _two, run: _three, progress: _four, ...own } = task;
    expect(replayed.get(task.id)).toMatchObject(own);
  }
  expect((await store.agentTotals()).reduce((sum, { endedRuns }) => sum + endedRuns, 0)).toBe(written * times);
  const found = async (search: string) => (await store.tasks({ search })).total;
  expect([await found(WORDS.fixed), await found(WORDS.hundredth)]).toEqual([2, 4]);
  expect(await store.parentsWithNotices()).toEqual([]);
  // Numbers go on where the copies end.
  await create(store, "next");
  expect(await store.lastSeq()).toBe(seq + 1);
  expect((await store.tasks({ search: "next" })).tasks.map(({ id }) => id)).toEqual(["next"]);
  await store.close();
});
