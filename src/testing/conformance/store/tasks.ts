/**
 * The part of the store suite about tasks, their runs, queries and batches, and about transactions. See
 * `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import type { Store } from "../../../store/store.ts";
import { completed, create, newTask, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

export function taskSuite(bed: StoreBed): void {
  test("a created task reads back equal, and is in the feed", async () => {
    const store = await bed.fresh();
    const task = await create(store, "a", { model: "provider/model", isForked: true });
    expect(await store.task("a")).toEqual(task);
    expect(await store.tasks({})).toEqual({ tasks: [task], total: 1 });
    expect((await store.feed(0)).map(({ taskId, event }) => [taskId, event.type])).toEqual([["a", "task.created"]]);
    expect(await store.task("b")).toBeNull();
  });

  test("a result is stored in full, and shortened only if a list asks for it", async () => {
    const store = await bed.fresh();
    const result = "héllo 🌍 ".repeat(50_000);
    await create(store, "a");
    await store.apply("a", completed(2_000, 0, result));
    expect((await store.task("a"))?.run.result).toBe(result);
    expect((await store.tasks({ textChars: 7 })).tasks[0]?.run.result).toBe("héllo 🌍");
    expect((await store.tasks({ textChars: 0 })).tasks[0]?.run.result).toBe("");
    expect((await store.tasks({})).tasks[0]?.run.result).toBe(result);
  });

  test("each run stays readable after the next one began", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await store.apply("a", completed(2_000, 0, "first"));
    await store.apply("a", resumed(3_000));
    await store.apply("a", { type: "run.failed", at: 4_000, run: 1, error: "no", progress: null });
    expect((await store.runs("a")).map((run) => [run.number, run.outcome, run.result, run.error])).toEqual([
      [1, "error", null, "no"],
      [0, "completed", "first", null],
    ]);
    expect((await store.runs("a", 1)).length).toBe(1);
    expect((await store.run("a", 0))?.prompt).toBe("Do a");
    expect(await store.run("a", 2)).toBeNull();
  });
}

export function inboxSuite(bed: StoreBed): void {
  test("the inbox has waiting tasks, and failed ones of people that nobody has read or cleared", async () => {
    const store = await bed.fresh();
    const failed = { type: "run.failed", at: 5_000, run: 0, error: "no", progress: null } as const;
    const waiting = { kind: "waiting", requestId: "r", asks: "question", text: "?", at: 2_000 } as const;
    for (const id of ["asks", "works", "answered"]) await create(store, id);
    for (const id of ["asks", "answered"])
      await store.apply(id, { type: "run.phased", at: 2_000, run: 0, phase: "waiting", detail: waiting });
    await store.apply("answered", { type: "run.phased", at: 3_000, run: 0, phase: "working", detail: null });
    for (const id of ["failed", "read", "cleared", "older", "again"]) {
      await create(store, id, { parentSessionId: "" });
      await store.apply(id, id === "older" ? { ...failed, at: 4_000 } : failed);
    }
    await create(store, "child");
    await store.apply("child", failed);
    await store.apply("read", { type: "result.retrieved", at: 6_000 });
    await store.apply("cleared", { type: "task.cleared", at: 6_000 });
    await store.apply("again", { ...resumed(6_000), allow: ["error"] });
    const found = await store.inboxTasks({ failedAfter: 4_000 });
    expect<unknown>(found.waiting).toEqual([await store.task("asks")]);
    expect(found.failed.map(({ id }) => id)).toEqual(["failed"]);
    const all = await store.inboxTasks({ failedAfter: 0, limit: 1 });
    expect(all.failed.map(({ id }) => id)).toEqual(["failed"]);
    expect((await store.inboxTasks({ failedAfter: 0 })).failed.map(({ id }) => id)).toEqual(["failed", "older"]);
  });
}

export function transactionSuite(bed: StoreBed): void {
  test("a refusal and an exception write nothing", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await store.apply("a", completed(2_000));
    const before = [await store.task("a"), await store.lastSeq(), await store.notices("parent", "pending")];
    const refusals = [completed(3_000), completed(3_000, 7), { type: "cancel.requested", at: 3_000, run: 0 } as const];
    for (const event of refusals) expect((await store.apply("a", event)).changed).toBe(false);
    expect(await store.apply("b", completed(3_000))).toEqual({ changed: false, task: null, reason: "unknown_task" });
    const broken = store.write(async (transaction) => {
      await transaction.apply("a", { type: "task.cleared", at: 3_000 });
      await transaction.apply("c", { type: "task.created", at: 3_000, task: newTask("c") });
      throw new Error("changed my mind");
    });
    await expect(broken).rejects.toThrow("changed my mind");
    expect([await store.task("a"), await store.lastSeq(), await store.notices("parent", "pending")]).toEqual(before);
    expect(await store.task("c")).toBeNull();
  });

  test("an event that expects another owner of a live task writes nothing", async () => {
    const store = await bed.fresh();
    await create(store, "a", { owner: "one" });
    const failed = { type: "run.failed", at: 2_000, run: 0, error: "interrupted", progress: null } as const;
    const before = [await store.task("a"), await store.lastSeq()];
    const refused = { changed: false, reason: "other_owner" } as const;
    for (const owner of ["two", null]) {
      expect(await store.apply("a", failed, { owner, fence: 0, by: "two" })).toMatchObject(refused);
    }
    expect([await store.task("a"), await store.lastSeq()]).toEqual(before);
    const adopted = { type: "task.adopted", at: 3_000, owner: "two" } as const;
    const first = { owner: "one", fence: 0 };
    expect((await store.apply("a", adopted, { ...first, by: "two" })).changed).toBe(true);
    expect(await store.apply("a", failed, { ...first, by: "one" })).toMatchObject(refused);
    expect((await store.apply("a", failed, { owner: "two", fence: 1, by: "two" })).changed).toBe(true);
    expect(await store.apply("a", failed, { ...first, by: "one" })).toMatchObject({ changed: false, reason: "ended" });
  });

  test("the owners of live tasks are each named once; a live task without one is found, unless it waits", async () => {
    const store = await bed.fresh();
    expect([await store.owners(), await store.ownerless()]).toEqual([[], []]);
    for (const [id, owner] of Object.entries({ a: "two", b: "one", c: "two", d: "three" })) {
      await create(store, id, { owner });
    }
    await create(store, "nobody's", { owner: null });
    await create(store, "waits", { owner: null, sessionId: "" });
    await store.apply("d", completed(2_000));
    expect((await store.owners()).toSorted()).toEqual(["one", "two"]);
    expect((await store.ownerless()).map(({ id }) => id)).toEqual(["nobody's"]);
    await store.apply("nobody's", completed(2_000));
    expect(await store.ownerless()).toEqual([]);
  });

  test("a transaction sees its own writes; outside reads see none of them before the commit", async () => {
    const store = await bed.fresh();
    await store.write(async (transaction) => {
      await transaction.apply("a", { type: "task.created", at: 1, task: newTask("a") });
      expect((await transaction.task("a"))?.status).toBe("running");
      expect(await store.task("a")).toBeNull();
    });
    expect((await store.task("a"))?.status).toBe("running");
  });

  test("ids and texts of any shape are stored as data", async () => {
    const store = await bed.fresh();
    for (const id of ["'; drop table tasks; --", "%", "__proto__", "a\nb", "", "🌍".repeat(99), "A", "a"]) {
      const task = await create(store, id, { description: `${id} 50%_\\`, sessionId: id });
      expect(await store.task(id)).toEqual(task);
      expect((await store.tasks({ idPrefix: id, search: id })).tasks).toContainEqual(task);
    }
    expect((await store.tasks({})).total).toBe(8);
  });
}

export function querySuite(bed: StoreBed): void {
  const ids = async (store: Store, query: Parameters<Store["tasks"]>[0]) =>
    (await store.tasks(query)).tasks.map((task) => task.id);

  test("pages are sorted by start, newest or oldest first; equal starts keep their order", async () => {
    const store = await bed.fresh();
    for (const [id, at] of [
      ["b", 2],
      ["z", 1],
      ["c", 2],
      ["a", 2],
      ["n", 3],
    ] as const)
      await create(store, id, {}, at);
    expect(await ids(store, {})).toEqual(["n", "a", "c", "b", "z"]);
    expect(await ids(store, { order: "oldest" })).toEqual(["z", "b", "c", "a", "n"]);
    expect(await ids(store, { limit: 2, offset: 1 })).toEqual(["a", "c"]);
    expect(await store.tasks({ limit: 0, offset: 9 })).toEqual({ tasks: [], total: 5 });
  });

  test("a page has 50 tasks by default, and at most 200", async () => {
    const store = await bed.fresh();
    await store.write(async (transaction) => {
      for (let index = 0; index < 205; index++) {
        await transaction.apply(`t${index}`, { type: "task.created", at: index, task: newTask(`t${index}`) });
      }
    });
    expect((await store.tasks({})).tasks.length).toBe(50);
    const page = await store.tasks({ limit: 1_000 });
    expect([page.tasks.length, page.total]).toEqual([200, 205]);
  });

  test("each filter narrows the result, and all given filters must match", async () => {
    const store = await bed.fresh();
    await create(store, "ses_A1", { description: "Find the Bug", agent: "explore", batchId: "b1", owner: "i1" }, 1);
    await create(store, "ses_a2", { description: "fix 100% of it", agent: "build", batchId: "b1", owner: "i2" }, 2);
    await create(
      store,
      "ses_b3",
      { description: "ÜBER bug_hunt", parentSessionId: "other", batchId: "b2", owner: "i2" },
      3,
    );
    await store.apply("ses_a2", completed(4));
    await store.apply("ses_a2", { type: "task.cleared", at: 5 });
    expect(await ids(store, { parentSessionId: "other" })).toEqual(["ses_b3"]);
    expect(await ids(store, { batchId: "b1" })).toEqual(["ses_a2", "ses_A1"]);
    expect(await ids(store, { agent: "build" })).toEqual(["ses_a2"]);
    expect(await ids(store, { owner: "i2" })).toEqual(["ses_b3"]);
    expect(await ids(store, { status: ["running", "resumed"] })).toEqual(["ses_b3", "ses_A1"]);
    expect(await ids(store, { status: ["resumed"] })).toEqual([]);
    expect(await ids(store, { status: ["completed", "running"] })).toEqual(["ses_b3", "ses_a2", "ses_A1"]);
    expect(await ids(store, { status: [] })).toEqual([]);
    expect(await ids(store, { search: "BUG" })).toEqual(["ses_b3", "ses_A1"]);
    expect(await ids(store, { search: "über" })).toEqual(["ses_b3"]);
    expect(await ids(store, { search: "0%" })).toEqual(["ses_a2"]);
    expect(await ids(store, { search: "g_h" })).toEqual(["ses_b3"]);
    expect(await ids(store, { idPrefix: "ses_a" })).toEqual(["ses_a2"]);
    expect(await ids(store, { cleared: true })).toEqual(["ses_a2"]);
    expect(await ids(store, { cleared: false })).toEqual(["ses_b3", "ses_A1"]);
    expect(await store.tasks({ batchId: "b1", cleared: false, agent: "build" })).toEqual({ tasks: [], total: 0 });
  });
}

export function batchSuite(bed: StoreBed): void {
  test("the newest batch of a parent is found among one message's tasks, or among the live ones", async () => {
    const store = await bed.fresh();
    await create(store, "a", { parentMessageId: "m1", batchId: "b1" }, 1);
    await create(store, "b", { parentMessageId: "m2", batchId: "b2" }, 2);
    await create(store, "c", { parentMessageId: "m1", batchId: "b9", parentSessionId: "other" }, 3);
    await store.apply("b", completed(4));
    const found = await store.write(async (transaction) => [
      await transaction.batchOf("parent", { messageId: "m1" }),
      await transaction.batchOf("parent", { messageId: "m2" }),
      await transaction.batchOf("parent", { messageId: "m3" }),
      await transaction.batchOf("parent", "live"),
      await transaction.batchOf("nobody", "live"),
    ]);
    expect(found).toEqual(["b1", "b2", null, "b1", null]);
  });

  test("a launch without a task counts before the tasks, for its own message and among the live ones", async () => {
    const store = await bed.fresh();
    await create(store, "a", { parentMessageId: "m1", batchId: "b1" }, 1);
    const { sessionId: _session, ...task } = newTask("lau_1", { parentMessageId: "m2", batchId: "b2" });
    const found = await store.write(async (transaction) => {
      await transaction.openLaunch({ ...task, owner: "ins", machine: "", at: 2 });
      return [
        await transaction.batchOf("parent", { messageId: "m1" }),
        await transaction.batchOf("parent", { messageId: "m2" }),
        await transaction.batchOf("parent", "live"),
        await transaction.batchOf("other", "live"),
      ];
    });
    expect(found).toEqual(["b1", "b2", "b2", null]);
  });
}
