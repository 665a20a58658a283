/**
 * A store of the first release: only migration 1, with tasks of several runs; and what opening it should give.
 */
import { expect } from "bun:test";
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../../src/model/events.ts";
import { noProgress } from "../../../src/model/progress.ts";
import type { Task } from "../../../src/model/task.ts";
import { transition } from "../../../src/model/transition.ts";
import type { Database } from "../../../src/store/database.ts";
import { appendEvent } from "../../../src/store/feed.ts";
import { migrate } from "../../../src/store/migrations/migrations.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { runRow, taskRow } from "../../../src/store/tasks/rows.ts";
import { completed, create, newTask, resumed } from "../../../src/testing/sample-task.ts";

const progress = {
  ...noProgress(5),
  toolCalls: 2,
  tokens: { input: 10, output: 20, reasoning: 30, cacheRead: 40, cacheWrite: 50 },
  cost: 0.25,
};
const created = (id: string, agent: string, at = 1_000): TaskEvent => ({
  type: "task.created",
  at,
  task: newTask(id, { agent, description: `Ärger with "${id}"` }),
});
const LIVES: TaskEvent[][] = [
  [
    created("one", "build"),
    { type: "run.completed", at: 1_400, run: 0, result: "r", progress },
    resumed(2_000),
    { type: "run.failed", at: 2_100, run: 1, error: "no", progress: { ...progress, toolCalls: 7, cost: 1.5 } },
  ],
  [created("two", "build"), { type: "run.cancelled", at: 900, run: 0, reason: "enough", progress: null }],
  [created("three", "plan"), { type: "run.progressed", at: 1_500, run: 0, progress }],
  [created("four", "build"), completed(1_100), resumed(1_200)],
];

const none = { running: 0, completed: 0, error: 0, cancelled: 0, resumed: 0 };
const TOTALS = [
  {
    agent: "build",
    byStatus: { ...none, error: 1, cancelled: 1, resumed: 1 },
    endedRuns: 4,
    durationSum: 600,
    durationMin: 0,
    durationMax: 400,
    toolCalls: 7,
    cost: 1.5,
    tokens: progress.tokens,
  },
  {
    agent: "plan",
    byStatus: { ...none, running: 1 },
    endedRuns: 0,
    durationSum: 0,
    durationMin: 0,
    durationMax: 0,
    toolCalls: 2,
    cost: 0.25,
    tokens: progress.tokens,
  },
];

/** `first` is a new, empty database, and `open` opens the store on it. */
export async function expectMigrated(first: Database, open: () => Promise<Store>): Promise<void> {
  const tasks = await makeSchema1(first, LIVES);
  await first.close();
  const stores = await Promise.all([open(), open()]);
  const [store] = stores;
  expect(await store.agentTotals()).toEqual(TOTALS);
  expect(await Promise.all(tasks.map(({ id }) => store.task(id)))).toEqual(tasks);
  expect((await store.tasks({ limit: 1 })).total).toBe(4);
  const found = async (search: string) => (await store.tasks({ search })).tasks.map(({ id }) => id);
  expect(await found('ärger with "t')).toEqual(["three", "two"]);
  expect(await found("nowhere")).toEqual([]);
  expect(await found("ärger FOUR")).toEqual(["four"]);

  // Later writes continue from there.
  await store.apply("three", completed(1_900));
  await create(store, "five", { agent: "plan", description: "another ärger" }, 3_000);
  expect(await found("ÄRGER")).toEqual(["five", "four", "three", "two", "one"]);
  expect((await store.agentTotals())[1]).toMatchObject({
    byStatus: { ...none, running: 1, completed: 1 },
    endedRuns: 1,
    durationSum: 900,
    durationMin: 900,
    durationMax: 900,
    toolCalls: 2,
  });
  const { buckets, durations } = await store.history({
    from: 0,
    to: 4_000,
    bucketMs: 2_000,
    durationBounds: [100, 401],
  });
  expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(5);
  expect(durations.map(({ runs }) => runs)).toEqual([1, 3, 1]);
  await Promise.all(stores.map((each) => each.close()));
}

/** `lives` are the events of each task; returns the resulting tasks. */
async function makeSchema1(database: Database, lives: readonly (readonly TaskEvent[])[]): Promise<Task[]> {
  await migrate(database, 1);
  // Alone, as whoever changes the tables: nobody could order the feed of that version.
  const work = async (kysely: Kysely<Schema>) => {
    const tasks: Task[] = [];
    for (const events of lives) {
      const states: Task[] = [];
      const seqs: number[] = [];
      for (const event of events) {
        const { task } = transition(states.at(-1) ?? null, event);
        if (task === null) continue;
        states.push(task);
        seqs.push(await appendEvent(kysely, task.id, event.type, JSON.stringify(event)));
      }
      const [task, made] = [states.at(-1), seqs[0]];
      if (task === undefined || made === undefined) continue;
      // These came later.
      const {
        fence: _fence,
        machine: _machine,
        wake: _wake,
        clone: _clone,
        after_tasks: _after,
        sort_name: _name,
        took: _took,
        cost: _cost,
        ...row
      } = taskRow(task, made);
      await kysely
        .insertInto("tasks")
        .values(row as ReturnType<typeof taskRow>)
        .execute();
      const runs = new Map(states.map(({ run }) => [run.number, run]));
      for (const run of runs.values()) {
        const { pauses: _pauses, ...before } = runRow(task.id, run);
        await kysely.insertInto("runs").values(before).execute();
      }
      tasks.push({ ...task, fence: 0 });
    }
    return tasks;
  };
  return database.write(work, { isAlone: true });
}
