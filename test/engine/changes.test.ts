import { expect, test } from "bun:test";
import { BoardChanges } from "../../src/engine/watching/board-changes.ts";
import { Changes } from "../../src/engine/watching/changes.ts";
import { type TaskChange, TaskChanges } from "../../src/engine/watching/task-changes.ts";
import { Waiter } from "../../src/engine/watching/waiter.ts";
import { noProgress } from "../../src/model/progress.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create, newTask } from "../../src/testing/sample-task.ts";
import { newWorld } from "./engine-bed.ts";

const { after } = systemClock;
const hasEnded = ({ status }: Task) => !isLive(status);
const log = { info() {}, error: (message: string) => expect(message).toBe("") };

function createMany(store: Store, ids: readonly string[]) {
  return store.write(async (transaction) => {
    for (const id of ids) await transaction.apply(id, { type: "task.created", at: 1, task: newTask(id) });
  });
}

/** What a listener hears, and a way to wait for one of its changes. */
function told<Item>() {
  const all: Item[] = [];
  const waiting = new Set<() => void>();
  return {
    all,
    add(items: readonly Item[]): void {
      all.push(...items);
      for (const check of [...waiting]) check();
    },
    until(fits: (item: Item) => boolean): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (!all.some(fits)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
  };
}

test("a listener stopped with a read pending starts again at the feed's current position", async () => {
  const { store } = await newWorld().side({ started: false });
  const changes = new Changes({ store, log, after }, { before: 20, after: 0 });
  await changes.start();
  const noticed = new Promise<void>((resolve) => {
    const stop = store.onChange(() => resolve(stop()));
  });
  await create(store, "before");
  // From here on a read is due shortly.
  await noticed;
  changes.stop();
  await changes.start();
  const heard = new Promise<string[]>((resolve) => {
    changes.onEntries((entries) => resolve(entries.map(({ taskId }) => taskId)));
  });
  await create(store, "after");
  expect(await heard).toEqual(["after"]);
  changes.stop();
});

test("each entry is delivered once, in order, whether they come together or one after another", async () => {
  const { store } = await newWorld().side({ started: false });
  await create(store, "history");
  const changes = new Changes({ store, log, after }, { before: 1, after: 0 });
  const heard = told<string>();
  changes.onEntries((entries) => heard.add(entries.map(({ taskId }) => taskId)));
  await changes.start();
  const many = Array.from({ length: 450 }, (_, i) => `many-${i}`);
  await createMany(store, many);
  await heard.until((id) => id === "many-449");
  for (const id of ["one", "two"]) {
    await create(store, id);
    await heard.until((each) => each === id);
  }
  expect(heard.all).toEqual([...many, "one", "two"]);
  changes.stop();
});

test("a failed read is repeated with the next change", async () => {
  const { store } = await newWorld().side({ started: false });
  const errors: string[] = [];
  let failures = 1;
  const failing = {
    ...store,
    feed: (after: number, limit: number) =>
      failures-- > 0 ? Promise.reject(new Error("the disk is full")) : store.feed(after, limit),
  };
  const heard = told<string>();
  const failed = Promise.withResolvers<void>();
  const noting = {
    info() {},
    error(message: string) {
      errors.push(message);
      failed.resolve();
    },
  };
  const changes = new Changes({ store: failing, log: noting, after }, { before: 1, after: 0 });
  changes.onEntries((entries) => heard.add(entries.map(({ taskId }) => taskId)));
  await changes.start();
  await create(store, "a");
  await failed.promise;
  await create(store, "b");
  await heard.until((id) => id === "b");
  expect(heard.all).toEqual(["a", "b"]);
  expect(errors).toHaveLength(1);
  changes.stop();
});

test("a watcher of tasks sees each as it was right after its event, including those that started earlier", async () => {
  const { store } = await newWorld().side({ started: false });
  await create(store, "early");
  await store.apply("early", { type: "run.phased", at: 2, run: 0, phase: "working", detail: null });
  const heard = told<TaskChange>();
  const watching = new TaskChanges(
    { store, log, after },
    { changed: (changes) => heard.add(changes), missed: () => {} },
  );
  await watching.start();
  await store.write(async (transaction) => {
    await transaction.apply("late", { type: "task.created", at: 3, task: newTask("late") });
    await transaction.apply("late", { type: "run.phased", at: 4, run: 0, phase: "working", detail: null });
    await transaction.apply("early", { type: "cancel.requested", at: 5, run: 0 });
    await transaction.apply("late", completed(6));
    await transaction.apply("early", completed(7));
  });
  await heard.until(({ task }) => task.id === "early" && task.status === "completed");
  await store.apply("early", { type: "task.cleared", at: 8 });
  await heard.until(({ type }) => type === "task.cleared");
  expect(heard.all.map(({ type, task }) => [task.id, type, task.status, task.phase])).toEqual([
    ["late", "task.created", "running", "starting"],
    ["late", "run.phased", "running", "working"],
    ["early", "cancel.requested", "running", "working"],
    ["late", "run.completed", "completed", null],
    ["early", "run.completed", "completed", null],
    ["early", "task.cleared", "completed", null],
  ]);
  watching.stop();
});

test("a watcher of the board is told when it changed, and nothing about tasks", async () => {
  const { store } = await newWorld().side({ started: false });
  const looks = told<number>();
  let hasProject = false;
  const board = {
    ...store.board,
    version: async () => {
      const version = await store.board.version();
      looks.add([version]);
      return version;
    },
  };
  const changed = told<boolean>();
  const watching = new BoardChanges({ store: { ...store, board }, log, after }, () => changed.add([hasProject]));
  await watching.start();
  const looked = looks.all.length;
  await create(store, "task");
  await looks.until(() => looks.all.length > looked);
  // The read has been processed once everything pending at this moment has run.
  await new Promise(setImmediate);
  hasProject = true;
  await store.board.addProject({ id: "p", name: "P", createdAt: 1, updatedAt: 1 });
  await changed.until((told) => told);
  expect(changed.all).toEqual([true]);
  watching.stop();
});

/** A reader of the feed that sleeps until it is woken. */
function sleepingClock() {
  const due: (() => void)[] = [];
  let noticed = Promise.withResolvers<void>();
  return {
    after(_ms: number, work: () => void) {
      due.push(work);
      noticed.resolve();
      return () => {};
    },
    async wake() {
      await noticed.promise;
      noticed = Promise.withResolvers();
      for (const work of due.splice(0)) work();
    },
  };
}

/** A task that ends and is pruned, and something that happens afterwards. */
async function endAndPrune(store: Store): Promise<void> {
  await store.apply("gone", completed(2_000));
  await create(store, "later", { batchId: "later" });
  const { removed } = await store.prune({ endedBefore: 3_000, after: null, dryRun: false });
  expect(removed.tasks).toBe(1);
}

test("a reader that slept while a task ended and was pruned is told of the gap, and reads on", async () => {
  const { store } = await newWorld().side({ started: false });
  await create(store, "gone", { batchId: "gone", parentSessionId: "" });
  const clock = sleepingClock();
  const heard = told<string>();
  const changes = new Changes({ store, log, after: clock.after }, { before: 1, after: 0 });
  changes.onEntries((entries) => heard.add(entries.map(({ taskId }) => taskId)));
  changes.onGap(() => heard.add(["gap"]));
  const waiting = new Waiter({ store, after }, changes).until("gone", hasEnded, {});
  await changes.start();
  await endAndPrune(store);
  await clock.wake();
  expect(await waiting).toEqual({ reason: "reached", task: null });
  await heard.until((id) => id === "later");
  expect(heard.all).toEqual(["gap", "later"]);
  changes.stop();
});

test("a reader is told of the gap, once, if what was pruned was the newest of the feed", async () => {
  const { store } = await newWorld().side({ started: false });
  await create(store, "gone", { batchId: "gone", parentSessionId: "" });
  const clock = sleepingClock();
  const heard = told<string>();
  const changes = new Changes({ store, log, after: clock.after }, { before: 1, after: 0 });
  changes.onEntries((entries) => heard.add(entries.map(({ taskId }) => taskId)));
  changes.onGap(() => heard.add(["gap"]));
  const waiting = new Waiter({ store, after }, changes).until("gone", hasEnded, {});
  await changes.start();
  await store.apply("gone", completed(2_000));
  const { removed } = await store.prune({ endedBefore: 3_000, after: null, dryRun: false, ids: ["gone"] });
  expect(removed.tasks).toBe(1);
  await clock.wake();
  await heard.until((id) => id === "gap");
  expect(await waiting).toEqual({ reason: "reached", task: null });
  await create(store, "later");
  await clock.wake();
  await heard.until((id) => id === "later");
  expect(heard.all).toEqual(["gap", "later"]);
  changes.stop();
});

test("superseded progress is no gap, and neither is what was pruned before the reader started", async () => {
  const { store } = await newWorld().side({ started: false });
  await create(store, "gone", { batchId: "gone", parentSessionId: "" });
  await endAndPrune(store);
  const clock = sleepingClock();
  const heard = told<string>();
  const changes = new Changes({ store, log, after: clock.after }, { before: 1, after: 0 });
  changes.onEntries((entries) => heard.add(entries.map(({ event }) => event.type)));
  changes.onGap(() => heard.add(["gap"]));
  await changes.start();
  const progress = noProgress(5);
  for (const at of [4_000, 5_000]) await store.apply("later", { type: "run.progressed", at, run: 0, progress });
  await clock.wake();
  await heard.until((type) => type === "run.progressed");
  expect(heard.all).toEqual(["run.progressed"]);
  changes.stop();
});
