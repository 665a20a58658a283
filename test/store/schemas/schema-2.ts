/**
 * A store from before the board: migrations 1 and 2, with a live task; and what opening it should give.
 */
import { expect } from "bun:test";
import type { Kysely } from "kysely";
import { transition } from "../../../src/model/transition.ts";
import type { Database } from "../../../src/store/database.ts";
import { appendEvent } from "../../../src/store/feed.ts";
import { migrate } from "../../../src/store/migrations/migrations.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { runRow, taskRow } from "../../../src/store/tasks/rows.ts";
import { fillBoard, sampleSession } from "../../../src/testing/sample-board.ts";
import { completed, newTask } from "../../../src/testing/sample-task.ts";

/** `second` is a new, empty database, and `open` opens the store on it. */
export async function expectBoardAdded(second: Database, open: () => Promise<Store>): Promise<void> {
  await makeSchema2(second);
  await second.close();
  const stores = await Promise.all([open(), open()]);
  const [store] = stores;
  expect((await store.task("before"))?.status).toBe("running");
  await fillBoard(store);
  await store.board.addSession(sampleSession("s", { taskId: "before" }));
  expect(await store.board.workItem("w")).toMatchObject({ status: "todo", inProgress: true });
  await store.apply("before", completed(9));
  expect(await store.board.workItem("w")).toMatchObject({ status: "todo", inProgress: false, latestSessionId: "s" });
  await Promise.all(stores.map((each) => each.close()));
}

/** The task's batch has the id of the attempt that is added later. */
async function makeSchema2(database: Database): Promise<void> {
  await migrate(database, 2);
  // Alone, as whoever changes the tables: nobody could order the feed of that version.
  const work = async (kysely: Kysely<Schema>) => {
    const event = { type: "task.created", at: 1, task: newTask("before", { batchId: "a" }) } as const;
    const { task } = transition(null, event);
    if (task === null) throw new Error("no task");
    const seq = await appendEvent(kysely, task.id, event.type, JSON.stringify(event));
    // Both came later.
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
    } = taskRow(task, seq);
    await kysely
      .insertInto("tasks")
      .values(row as ReturnType<typeof taskRow>)
      .execute();
    const { pauses: _pauses, ...run } = runRow(task.id, task.run);
    await kysely.insertInto("runs").values(run).execute();
  };
  return database.write(work, { isAlone: true });
}
