/**
 * The part of the store suite about tasks that start after others: judged with the end of the last one, started once,
 * skipped, blocked, changed. See `store-conformance.ts`.
 */
import { expect, test } from "bun:test";
import type { After } from "../../../model/after.ts";
import type { TaskEvent } from "../../../model/events.ts";
import type { Task } from "../../../model/task.ts";
import { settlesWithin } from "../../../process/deadline.ts";
import type { QueuedRun } from "../../../store/queue/run-queue.ts";
import type { Store } from "../../../store/store.ts";
import { sampleInstance } from "../../sample-instance.ts";
import { completed, create, newTask, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const FOLDER = { host: "scripted", directory: "/repo" };

/** Stores a task that starts after others, as it is then. */
async function hold(
  store: Store,
  id: string,
  after: readonly string[],
  ifFailed: After["ifFailed"] = "skip",
  needs: Partial<QueuedRun> = { directory: "/repo", machine: "" },
  beforeCommit: () => Promise<void> = async () => {},
): Promise<Task> {
  const rest = { priority: 0, retries: 0, source: null, bound: null, limits: {} };
  const run = { taskId: id, host: "scripted", model: null, labels: [], machine: null, remote: null, ...rest, ...needs };
  await store.queue.open(run);
  const task = newTask(id, { sessionId: "", messageId: "", owner: null, after: { tasks: after, ifFailed } });
  const written = await store.write(async (transaction) => {
    await transaction.tasks(after);
    await transaction.enqueueHeld(run);
    await transaction.apply(id, { type: "task.created", at: 2, task });
    const settled = await transaction.settle(id, 2);
    await beforeCommit();
    return settled;
  });
  if (written === null || !("id" in written)) throw new Error(`task ${id} was refused`);
  return written;
}

async function claim(store: Store, fields: { hosts?: string[]; folders?: (typeof FOLDER)[]; machine?: string } = {}) {
  const request = {
    runner: "runner",
    hosts: [],
    labels: [],
    machine: "",
    count: 99,
    leaseMs: 60_000,
    at: 1,
    limits: {},
  };
  return (await store.queue.claim({ ...request, folders: [FOLDER], ...fields })).map(({ taskId }) => taskId);
}

const failed = (at: number): TaskEvent => ({ type: "run.failed", at, run: 0, error: "broken", progress: null });
const eventsOf = async (store: Store, id: string) =>
  (await store.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER })).map(({ event }) => event.type);

export function afterSuite(bed: StoreBed): void {
  startTests(bed);
  failureTests(bed);
  editTests(bed);
}

function startTests(bed: StoreBed): void {
  test("a task is startable with the end of the last one that it waits for, and not before", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await create(store, "b");
    const task = await hold(store, "c", ["a", "b"]);
    expect(task).toMatchObject({ phase: "queued", phaseDetail: { kind: "after" }, status: "running", sessionId: "" });
    await store.apply("a", completed(3));
    expect([await claim(store), await store.queue.folders()]).toEqual([[], []]);
    expect(await store.queue.waiting(["c"])).toMatchObject([{ isHeld: true }]);
    await store.apply("b", completed(4));
    expect(await store.task("c")).toMatchObject({ phase: "queued", phaseDetail: null });
    expect(await store.queue.folders()).toEqual([{ ...FOLDER, machine: "" }]);
    expect([await claim(store), await claim(store)]).toEqual([["c"], []]);
    expect(await eventsOf(store, "c")).toEqual(["task.created", "run.phased"]);
  });

  test("a task whose predecessors have ended is startable when it is stored", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await store.apply("a", completed(3));
    expect(await hold(store, "b", ["a"])).toMatchObject({ phase: "queued", phaseDetail: null });
    expect(await claim(store)).toEqual(["b"]);
  });

  test("only who has the folder open gets it; with the queue, any runner does", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await hold(store, "bound", ["a"]);
    await hold(store, "free", ["a"], "skip", {});
    await store.apply("a", completed(3));
    expect(await claim(store, { hosts: ["scripted"], folders: [] })).toEqual(["free"]);
    const strange = [{ ...FOLDER, directory: "/else" }];
    expect(await claim(store, { hosts: ["scripted"], folders: strange })).toEqual([]);
    expect(await claim(store, { machine: "elsewhere" })).toEqual([]);
    expect(await claim(store)).toEqual(["bound"]);
  });

  test("many ends at the same time make it startable once", async () => {
    const store = await bed.fresh();
    const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
    for (const id of ids) await create(store, id, { parentSessionId: `parent ${id}` });
    await hold(store, "last", ids);
    await Promise.all(ids.map((id, index) => store.apply(id, completed(10 + index))));
    expect([await claim(store), await eventsOf(store, "last")]).toEqual([["last"], ["task.created", "run.phased"]]);
  });

  test("an end that comes after the judgement and before the commit is not missed", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    let ending: Promise<unknown> = Promise.resolve();
    await hold(store, "b", ["a"], "skip", undefined, async () => {
      ending = store.apply("a", completed(3));
      // It has to wait for the commit. Where it does not, it has time enough to be missed.
      await settlesWithin(ending, { timeout: 300 });
    });
    await ending;
    expect(await claim(store)).toEqual(["b"]);
  });

  test("a task that is stored while its predecessor ends does not miss that", async () => {
    const store = await bed.fresh();
    const pairs = Array.from({ length: 20 }, (_, index) => ({ first: `f${index}`, next: `t${index}` }));
    for (const { first } of pairs) await create(store, first, { parentSessionId: `parent ${first}` });
    await Promise.all(
      pairs.flatMap(({ first, next }) => [hold(store, next, [first]), store.apply(first, completed(9))]),
    );
    expect((await claim(store)).toSorted()).toEqual(pairs.map(({ next }) => next).toSorted());
  });
}

function failureTests(bed: StoreBed): void {
  test("if one fails: skip ends it with the reason, and its own successors are judged by theirs", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await hold(store, "b", ["a"]);
    await hold(store, "c", ["b"]);
    await hold(store, "d", ["c"], "run_anyway");
    await hold(store, "e", ["c"], "wait");
    await store.apply("a", failed(5));
    for (const [id, by] of [
      ["b", "a, which failed"],
      ["c", "b, which was cancelled"],
    ]) {
      const error = `Not run: it was to start after task ${by}.`;
      expect(await store.task(id ?? "")).toMatchObject({ status: "cancelled", sessionId: "", run: { error } });
    }
    expect(await store.task("e")).toMatchObject({ phase: "waiting", phaseDetail: { kind: "blocked", by: "c", at: 5 } });
    expect((await store.inboxTasks({ failedAfter: 0 })).waiting.map(({ id }) => id)).toEqual(["e"]);
    expect(await claim(store)).toEqual(["d"]);
    const told = await store.notices("parent", "pending");
    expect(told.map(({ taskId, kind }) => `${taskId} ${kind}`).toSorted()).toEqual([
      "a ended",
      "b ended",
      "c ended",
      "e waiting",
    ]);
  });

  test("a blocked task goes on when the other one is resumed, and starts when that completes", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await hold(store, "b", ["a"], "wait");
    await store.apply("a", failed(5));
    expect((await store.task("b"))?.phase).toBe("waiting");
    await store.apply("a", { ...resumed(6), allow: ["error"] });
    expect(await store.task("b")).toMatchObject({ phase: "queued", phaseDetail: { kind: "after" } });
    await store.apply("a", completed(7, 1));
    expect([(await store.task("b"))?.phaseDetail, await claim(store)]).toEqual([null, ["b"]]);
  });

  test("a task that is cancelled while it waits is not started later", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await hold(store, "b", ["a"]);
    await store.apply("b", { type: "run.cancelled", at: 3, run: 0, reason: "enough", progress: null });
    await store.apply("a", completed(4));
    expect([await claim(store), (await store.task("b"))?.run.error]).toEqual([[], "enough"]);
  });

  test("a task that another one waits for is not pruned", async () => {
    const store = await bed.fresh();
    await create(store, "a", { parentSessionId: "", batchId: "one" });
    await create(store, "z", { parentSessionId: "", batchId: "two" });
    await store.apply("a", completed(3));
    await hold(store, "b", ["a", "z"], "wait");
    const request = { endedBefore: 1_000_000, after: null, ids: ["a"], dryRun: false };
    expect(await store.prune(request)).toMatchObject({ removed: { tasks: 0 }, kept: { after: 1 } });
  });
}

function editTests(bed: StoreBed): void {
  /** As the engine does it. */
  const edit = (store: Store, id: string, after: After | null, prompt = "else") =>
    store.write(async (transaction) => {
      if (!(await transaction.holdAgain(id))) return null;
      await transaction.tasks([id, ...(after?.tasks ?? [])]);
      await transaction.apply(id, { type: "task.edited", at: 5, run: 0, after, prompt });
      return transaction.settle(id, 5);
    });

  test("a change replaces what it waits for and its prompt, also while it is startable", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await create(store, "b");
    await hold(store, "c", ["a"]);
    const after: After = { tasks: ["b"], ifFailed: "wait" };
    expect(await edit(store, "c", after)).toMatchObject({
      after,
      run: { prompt: "else" },
      phaseDetail: { kind: "after" },
    });
    expect(await store.write((transaction) => transaction.predecessorsOf(["c", "a"]))).toEqual([
      { taskId: "c", predecessorId: "b" },
    ]);
    await store.apply("a", failed(6));
    expect((await store.task("c"))?.status).toBe("running");
    expect(await edit(store, "c", null)).toMatchObject({ after: null, phase: "queued", phaseDetail: null });
    expect(await edit(store, "c", after)).toMatchObject({ phaseDetail: { kind: "after" } });
    expect(await claim(store)).toEqual([]);
    await edit(store, "c", null, "at last");
    expect([await claim(store), (await store.task("c"))?.run.prompt]).toEqual([["c"], "at last"]);
  });

  test("a task that somebody begins is not changed any more", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await store.apply("a", completed(3));
    for (const needs of [{ directory: "/repo", machine: "" }, {}]) {
      const id = `b ${Object.keys(needs).length}`;
      await hold(store, id, ["a"], "skip", needs);
      expect(await claim(store, { hosts: ["scripted"] })).toEqual([id]);
      expect(await edit(store, id, null)).toBe(null);
      expect((await store.task(id))?.run.prompt).toBe(`Do ${id}`);
    }
  });

  test("whether any machine may begin a run: one with a remote, while it waits or would wait again", async () => {
    const store = await bed.fresh();
    const remote = "git@example.org:shop.git";
    const source = { commit: "c1", path: "", machine: "there", directory: "/repo" };
    await hold(store, "far", [], "skip", { remote, source });
    await hold(store, "again", [], "skip", { remote, source, retries: 1 });
    await hold(store, "near", [], "skip", { machine: "here", retries: 1 });
    await create(store, "never queued");
    const found = () =>
      store.write(async (transaction) => {
        const all = ["far", "again", "near", "never queued", "unknown"];
        const answers: string[] = [];
        for (const id of all) if (await transaction.mayBeginAnywhere(id)) answers.push(id);
        return answers;
      });
    expect(await found()).toEqual(["far", "again"]);
    const request = {
      runner: "r",
      hosts: ["scripted"],
      labels: [],
      machine: "there",
      count: 9,
      leaseMs: 60_000,
      at: 1,
    };
    const claimed = await store.queue.claim({ ...request, limits: {} });
    expect([claimed.length, await found()]).toEqual([2, ["far", "again"]]);
    await store.addInstance(sampleInstance("owner"));
    for (const { taskId, fence } of claimed) {
      const place = { sessionId: `s ${taskId}`, directory: "/repo", agent: "x", model: null, messageId: `m ${taskId}` };
      await store.queue.begin({ taskId, fence }, { type: "task.claimed", at: 3, run: 0, owner: "owner", ...place });
    }
    expect(await found()).toEqual(["again"]);
  });

  test("the session of a task that waited leads to it", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await hold(store, "b", []);
    expect([(await store.taskOfSession("a"))?.id, await store.taskOfSession("")]).toEqual(["a", null]);
    const place = { sessionId: "session of b", directory: "/repo", agent: "x", model: null, messageId: "m" };
    await store.apply("b", { type: "task.claimed", at: 3, run: 0, owner: "instance", ...place });
    expect((await store.taskOfSession("session of b"))?.id).toBe("b");
  });
}
