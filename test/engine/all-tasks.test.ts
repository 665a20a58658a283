import { expect, test } from "bun:test";
import { allTasks } from "../../src/engine/watching/all-tasks.ts";
import type { Task } from "../../src/model/task.ts";
import type { TaskQuery } from "../../src/store/store.ts";

/** A store from whose query tasks disappear after each page, as a test specifies. */
function changing(count: number, leave: (ids: string[], page: number) => string[]) {
  let ids = Array.from({ length: count }, (_, index) => `t${index}`);
  let pages = 0;
  return {
    async tasks({ offset = 0, limit = 0 }: TaskQuery) {
      const page = ids.slice(offset, offset + limit).map((id) => ({ id }) as Task);
      ids = leave(ids, ++pages);
      return { tasks: page, total: ids.length };
    },
  };
}

async function read(store: ReturnType<typeof changing>): Promise<Set<string>> {
  return new Set((await allTasks(store, {})).map(({ id }) => id));
}

test("all tasks are read, each once", async () => {
  for (const count of [0, 1, 199, 200, 201, 399, 400, 1000]) {
    const tasks = await allTasks(
      changing(count, (ids) => ids),
      {},
    );
    expect([tasks.length, new Set(tasks.map(({ id }) => id)).size]).toEqual([count, count]);
  }
});

test("tasks that end between two pages hide none of the remaining ones", async () => {
  const one = await read(changing(201, (ids, page) => (page === 1 ? ids.slice(1) : ids)));
  expect(one.has("t200")).toBe(true);
  const many = await read(changing(700, (ids, page) => (page < 3 ? ids.slice(150) : ids)));
  for (let index = 300; index < 700; index++) expect(many.has(`t${index}`)).toBe(true);
  const last = await read(changing(201, (ids, page) => (page === 1 ? ids.slice(0, 100) : ids)));
  expect(last.has("t99")).toBe(true);
});
