import { expect, test } from "bun:test";
import { type PruneReport, pruneTasks, removeTask } from "../../src/engine/retention.ts";
import type { Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create, newTask, resumed } from "../../src/testing/sample-task.ts";
import { newWorld } from "./engine-bed.ts";

/** `count` tasks that started at 0, 10, 20 … and took 5 ms each, and a live one. */
async function filled(count: number): Promise<Store> {
  const { store } = await newWorld().side({ started: false });
  await store.write(async (transaction) => {
    for (let number = 0; number < count; number++) {
      const task = newTask(`t${number}`, { batchId: `t${number}`, parentSessionId: "" });
      await transaction.apply(task.id, { type: "task.created", at: number * 10, task });
      await transaction.apply(task.id, completed(number * 10 + 5));
    }
  });
  await create(store, "live", { batchId: "live" }, count * 10);
  return store;
}

function contextOf(store: Store, now: number) {
  return { ...systemClock, now: () => now, store };
}

test("a limit of age or of number decides, and of both the one that removes more", async () => {
  for (const [limits, left] of [
    [{ olderThanMs: 45 }, 6],
    [{ keep: 3 }, 3],
    [{ olderThanMs: 45, keep: 8 }, 6],
    [{ olderThanMs: 45, keep: 3 }, 3],
    [{ keep: 100 }, 11],
  ] as const) {
    const store = await filled(10);
    const { isComplete } = await pruneTasks(contextOf(store, 100), limits);
    expect([limits, (await store.tasks({})).total, isComplete]).toEqual([limits, left, true]);
  }
});

test("without a limit nothing is removed, and the caller is told", async () => {
  const store = await filled(1);
  await expect(pruneTasks(contextOf(store, 1_000), {})).rejects.toMatchObject({ code: "invalid_input" });
  expect((await store.tasks({})).total).toBe(2);
});

test("it pauses between transactions, can be stopped there, and the next call goes on", async () => {
  const store = await filled(250);
  const stopping = new AbortController();
  const pauses: number[] = [];
  const context = {
    ...contextOf(store, 1_000_000),
    after(ms: number, work: () => void) {
      pauses.push(ms);
      return systemClock.after(0, work);
    },
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  };
  const first = await pruneTasks(context, { olderThanMs: 1 });
  expect([first.removed.tasks, first.isComplete]).toEqual([100, false]);
  const progress: (number | undefined)[] = [];
  const onProgress = ({ removed }: PruneReport) => void progress.push(removed.tasks);
  const second = await pruneTasks({ ...context, signal: undefined, onProgress }, { olderThanMs: 1 });
  expect([second.removed.tasks, second.isComplete, progress]).toEqual([150, true, [100]]);
  expect(pauses.length).toBe(2);
  for (const ms of pauses) expect(ms).toBeGreaterThanOrEqual(2);
});

test("a process that dies between two transactions leaves whole tasks only, and another one finishes", async () => {
  const store = await filled(150);
  let steps = 0;
  const dying = {
    ...store,
    prune: (request: Parameters<Store["prune"]>[0]) => (steps++ ? die() : store.prune(request)),
  };
  await expect(pruneTasks(contextOf(dying, 1_000_000), { olderThanMs: 1 })).rejects.toThrow("killed");
  expect((await store.tasks({})).total).toBe(51);
  const seen = new Set((await store.feed(0, 5_000)).map(({ taskId }) => taskId));
  expect(seen.size).toBe(51);
  expect((await pruneTasks(contextOf(store, 1_000_000), { olderThanMs: 1 })).removed.tasks).toBe(50);
});

function die(): never {
  throw new Error("killed");
}

test("one task is removed on request, even the newest; its figures stay, and the parent that was seen since", async () => {
  const { store } = await newWorld().side({ started: false });
  const parent = { host: "scripted", handler: null, agent: null, model: null, variant: null, machine: "" };
  for (const [sessionId, seenAt] of [
    ["gone", 5],
    ["seen", 50],
  ] as const) {
    await store.putParent({ sessionId, seenAt, ...parent });
    const id = `of ${sessionId}`;
    await create(store, id, { batchId: id, parentSessionId: sessionId }, 1);
    await store.apply(id, completed(10));
    await store.dropNotices(sessionId, "not needed", 11);
    const task = await store.task(id);
    expect(await removeTask(store, task as Task)).toMatchObject({ tasks: 1, runs: 1, notices: 1 });
  }
  expect([(await store.tasks({})).total, (await store.agentTotals())[0]?.endedRuns]).toEqual([0, 2]);
  expect([await store.parent("gone"), (await store.parent("seen"))?.seenAt]).toEqual([null, 50]);
});

test("what is live or needed is not removed, and the error says what to do", async () => {
  const store = await filled(1);
  const live = (await store.task("live")) as Task;
  await expect(removeTask(store, live)).rejects.toMatchObject({ code: "task_running" });
  await create(store, "child", { batchId: "child", parentSessionId: "someone" }, 1);
  await store.apply("child", completed(2));
  const child = (await store.task("child")) as Task;
  const refused = removeTask(store, child);
  await expect(refused).rejects.toMatchObject({ code: "task_needed", details: { reason: "notice" } });
  await expect(refused).rejects.toThrow("its parent has not been told");
  expect(await store.task("child")).toEqual(child);
  // Resumed after the caller has looked.
  const ended = (await store.task("t0")) as Task;
  await store.apply("t0", resumed(20));
  await expect(removeTask(store, ended)).rejects.toMatchObject({ code: "task_running" });
  expect((await store.task("t0"))?.status).toBe("resumed");
});
