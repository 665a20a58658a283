/**
 * A store from before names had a greatest length: migrations 1 to 27, with tasks whose agent and host are longer; and
 * what opening it should give.
 */
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { NewTask, TaskEvent } from "../../../src/model/events.ts";
import { MAX_NAME, type Task } from "../../../src/model/task.ts";
import { transition } from "../../../src/model/transition.ts";
import type { Database } from "../../../src/store/database.ts";
import { appendEvent } from "../../../src/store/feed.ts";
import { migrate } from "../../../src/store/migrations/migrations.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { addToTotals } from "../../../src/store/tasks/agent-totals.ts";
import { runRow, taskRow } from "../../../src/store/tasks/rows.ts";
import { completed, newTask } from "../../../src/testing/sample-task.ts";

/** As much as the index of agents takes on PostgreSQL, and too much together with a description. */
const LONGEST = 2_600;
const LONG = "🌍🌎🌏".repeat(20);

/** Two that begin alike. */
const AGENTS = ["one", "other"].map((end) => `${incompressible("agent")}${end}`) as [string, string];
const HOST = incompressible("host");

/** `earlier` is a new, empty database, and `open` opens the store on it. */
export async function expectNamesShortened(earlier: Database, open: () => Promise<Store>): Promise<void> {
  await makeSchema27(earlier);
  await earlier.close();
  const store = await open();
  const tasks: Task[] = [];
  for (const id of ["a", "b", "hosted", "short"]) tasks.push((await store.task(id)) as Task);
  const [a, b, hosted, short] = tasks as [Task, Task, Task, Task];
  expect([short.agent, short.host]).toEqual(["explore", "scripted"]);
  expect(AGENTS[0]).toStartWith(a.agent.slice(0, 100));
  expect(HOST).toStartWith(hosted.host.slice(0, 100));
  for (const name of [a.agent, b.agent, hosted.host]) expect(name.length).toBeLessThanOrEqual(MAX_NAME);
  expect(a.agent).not.toBe(b.agent);
  for (const { id, agent } of [a, b]) {
    expect((await store.apply(id, completed(2_000))).changed).toBe(true);
    expect((await store.tasks({ agent, status: ["completed"] })).tasks.map((found) => found.id)).toEqual([id]);
    expect((await store.agentTotals()).find((totals) => totals.agent === agent)).toMatchObject({
      byStatus: { completed: 1, running: 0 },
    });
  }
  expect((await store.tasks({ host: hosted.host })).tasks.map(({ id }) => id)).toEqual(["hosted"]);
  await store.close();
}

async function makeSchema27(database: Database): Promise<void> {
  await migrate(database, 27);
  const lives: Record<string, Partial<NewTask>> = {
    a: { agent: AGENTS[0] },
    b: { agent: AGENTS[1] },
    hosted: { host: HOST },
    short: {},
  };
  // Alone, as whoever changes the tables: nobody could order the feed of that version.
  const work = async (kysely: Kysely<Schema>) => {
    for (const [id, names] of Object.entries(lives)) {
      const event: TaskEvent = { type: "task.created", at: 1_000, task: newTask(id, { ...names, description: LONG }) };
      const { task } = transition(null, event);
      if (task === null) throw new Error(`task ${id} was refused`);
      const seq = await appendEvent(kysely, id, event.type, JSON.stringify(event));
      await kysely.insertInto("tasks").values(taskRow(task, seq)).execute();
      await kysely.insertInto("runs").values(runRow(id, task.run)).execute();
      await addToTotals(kysely, [{ before: null, after: task }]);
    }
  };
  await database.write(work, { isAlone: true });
}

function incompressible(seed: string): string {
  const part = (index: number) => createHash("sha256").update(`${seed} ${index}`).digest("base64url");
  return Array.from({ length: LONGEST / 40 }, (_, index) => part(index).slice(0, 40)).join("");
}
