/**
 * The part of the store suite about pruning: what goes, what must stay, and that everything that remains is as if the
 * pruned tasks had never been stored. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import { noProgress } from "../../../model/progress.ts";
import { isLive, type Task } from "../../../model/task.ts";
import { transition } from "../../../model/transition.ts";
import type { PruneStep, Store } from "../../../store/store.ts";
import { fillBoard, sampleAttempt, sampleItem, sampleSession } from "../../sample-board.ts";
import { completed, create, newTask, resumed } from "../../sample-task.ts";
import { LONG_TEST_TIMEOUT_MS, type StoreBed } from "./store-bed.ts";

/** Tasks that ended before this time may go. */
const CUTOFF = 10_000;

export function pruneSuite(bed: StoreBed): void {
  test("old ended tasks go with everything that belongs to them; live and younger ones stay", async () => {
    const store = await bed.fresh();
    for (const id of ["old", "older", "live", "young"]) await createAlone(store, id);
    await store.apply("old", completed(2_000));
    await store.apply("old", resumed(3_000));
    await store.apply("old", completed(4_000, 1));
    await store.apply("older", completed(1_500));
    await store.apply("young", completed(CUTOFF));
    const lastSeq = await store.lastSeq();
    const step = await store.prune({ endedBefore: CUTOFF, after: null, dryRun: false });
    expect(step).toMatchObject({ removed: { tasks: 2, runs: 3, events: 6, board_sessions: 0 }, kept: {}, next: null });
    expect(await idsIn(store)).toEqual(["live", "young"]);
    for (const id of ["old", "older"]) {
      expect(await store.task(id)).toBeNull();
      expect(await store.runs(id)).toEqual([]);
      expect((await store.tasks({ search: `Task ${id}` })).total).toBe(0);
      expect(await store.lastNotice(id)).toBeNull();
    }
    expect(await store.lastSeq()).toBe(lastSeq);
    expect(await store.pruned()).toEqual({ tasks: 2, seq: lastSeq - 1 });
    await expectReplay(store);
    // The id is free again, as that of a task that never existed.
    await createAlone(store, "old");
    expect((await store.task("old"))?.run.number).toBe(0);
  });

  test("the number of tasks follows, and what they used stays counted", async () => {
    const store = await bed.fresh();
    await createAlone(store, "a");
    const progress = { ...noProgress(1), toolCalls: 3, cost: 0.5 };
    await store.apply("a", { type: "run.completed", at: 2_000, run: 0, result: "done", progress });
    await createAlone(store, "b");
    await prune(store);
    expect((await store.tasks({})).total).toBe(1);
    expect((await store.tasks({ status: ["completed"] })).total).toBe(0);
    expect(await store.agentTotals()).toMatchObject([
      { agent: "explore", byStatus: { running: 1, completed: 0 }, endedRuns: 1, durationSum: 1_000, toolCalls: 3 },
    ]);
    expect((await store.agentTotals())[0]?.cost).toBe(0.5);
  });

  test("a dry run says the same and changes nothing", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b"]) {
      await create(store, id, { batchId: id, parentSessionId: id === "a" ? "" : "parent" });
      await store.apply(id, completed(2_000));
    }
    await createAlone(store, "live");
    const before = await store.feed(0);
    const dry = await store.prune({ endedBefore: CUTOFF, after: null, dryRun: true });
    expect([await store.feed(0), await store.pruned()]).toEqual([before, { tasks: 0, seq: 0 }]);
    expect(dry).toMatchObject({ removed: { tasks: 1, runs: 1, events: 2 }, kept: { notice: 1 } });
    expect(await store.prune({ endedBefore: CUTOFF, after: null, dryRun: false })).toEqual(dry);
  });

  test("many tasks go step by step, each step small, and others write in between", async () => {
    const [store, other] = (await bed.handles(2)) as [Store, Store];
    await store.write(async (transaction) => {
      for (let number = 0; number < 250; number++) {
        const id = `t${number}`;
        const task = newTask(id, { batchId: id, parentSessionId: "" });
        await transaction.apply(id, { type: "task.created", at: number, task });
        await transaction.apply(id, completed(number + 1));
      }
    });
    await createAlone(store, "live");
    const counts: number[] = [];
    for (let after: PruneStep["next"] = null; ; ) {
      const step: PruneStep = await store.prune({ endedBefore: CUTOFF, after, dryRun: false });
      counts.push(step.removed.tasks ?? 0);
      await createAlone(other, `meanwhile ${counts.length}`);
      await expectReplay(store);
      after = step.next;
      if (after === null) break;
    }
    expect(counts).toEqual([100, 100, 50]);
    expect(await store.startOfNewest(4)).toBe(1_000);
    expect(await store.startOfNewest(5)).toBeNull();
  });

  test(
    "a task is resumed or pruned, never both, however many try at once",
    async () => {
      const stores = await bed.handles(3);
      const [store, second, third] = stores as [Store, Store, Store];
      const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
      for (const id of ids) {
        await createAlone(store, id);
        await store.apply(id, completed(2_000));
      }
      await createAlone(store, "live");
      const resuming = Promise.all(ids.map((id) => third.apply(id, resumed(3_000))));
      await Promise.all([prune(store), prune(second), resuming]);
      const outcomes = await resuming;
      for (const [index, id] of ids.entries()) {
        expect([id, (await store.task(id))?.status ?? null]).toEqual([id, outcomes[index]?.changed ? "resumed" : null]);
      }
      const left = await idsIn(store);
      expect((await store.pruned()).tasks).toBe(ids.length + 1 - left.length);
      expect((await store.tasks({})).total).toBe(left.length);
      await expectReplay(store);
    },
    LONG_TEST_TIMEOUT_MS,
  );
  obstacleSuite(bed);
}

function obstacleSuite(bed: StoreBed): void {
  test("a task whose parent has not been told stays until it is", async () => {
    const store = await bed.fresh();
    await create(store, "a", { batchId: "a" });
    await store.apply("a", completed(2_000));
    await createAlone(store, "live");
    expect((await prune(store)).kept).toEqual({ notice: 1 });
    const [notice] = await store.claimNotices("parent", { sender: "i", messageId: "m", limit: 10 });
    expect([notice?.taskId, (await prune(store)).kept]).toEqual(["a", { notice: 1 }]);
    await store.putParent({ ...PARENT, sessionId: "parent", seenAt: 5 });
    await store.settleNotices("m", { sender: "i", fence: 1 }, { state: "delivered", reason: null, at: 3_000 });
    expect((await prune(store)).removed).toMatchObject({ tasks: 1, notices: 1 });
    // Nothing else is known of that parent.
    expect(await store.parent("parent")).toBeNull();
  });

  test("a parent that was seen since, or has other tasks, stays known", async () => {
    const store = await bed.fresh();
    for (const [id, parentSessionId] of [
      ["a", "seen"],
      ["b", "busy"],
    ] as const) {
      await create(store, id, { batchId: id, parentSessionId });
      await store.apply(id, completed(2_000));
      await store.dropNotices(parentSessionId, "gone", 2_500);
    }
    await create(store, "c", { batchId: "c", parentSessionId: "busy" });
    await store.putParent({ ...PARENT, sessionId: "seen", seenAt: CUTOFF });
    await store.putParent({ ...PARENT, sessionId: "busy", seenAt: 5 });
    expect((await prune(store)).removed.tasks).toBe(2);
    expect([(await store.parent("seen"))?.sessionId, (await store.parent("busy"))?.sessionId]).toEqual([
      "seen",
      "busy",
    ]);
  });

  test("a task that launched a live one, or has a live one in its batch, stays until that has ended", async () => {
    const store = await bed.fresh();
    await createAlone(store, "launcher");
    await create(store, "sibling", { batchId: "shared", parentSessionId: "" });
    for (const id of ["launcher", "sibling"]) await store.apply(id, completed(2_000));
    await create(store, "child", { batchId: "child", parentSessionId: "launcher" });
    await create(store, "twin", { batchId: "shared", parentSessionId: "" });
    await createAlone(store, "live");
    expect((await prune(store)).kept).toEqual({ parent: 1, batch: 1 });
    for (const id of ["child", "twin"]) await store.apply(id, completed(CUTOFF));
    await store.apply("live", { type: "cancel.requested", at: CUTOFF, run: 0 });
    // The launcher has not been told yet.
    expect(await prune(store)).toMatchObject({ removed: { tasks: 1 }, kept: { parent: 1 } });
    await store.dropNotices("launcher", "gone", CUTOFF);
    expect((await prune(store)).removed.tasks).toBe(1);
    expect(await idsIn(store)).toEqual(["child", "live", "twin"]);
  });

  test("a launch in progress keeps the task that it is for, and its batch", async () => {
    const store = await bed.fresh();
    await createAlone(store, "launcher");
    await createAlone(store, "mate");
    for (const id of ["launcher", "mate"]) await store.apply(id, completed(2_000));
    await createAlone(store, "live");
    const { id: _id, sessionId: _sessionId, owner: _owner, ...rest } = newTask("x", { parentSessionId: "launcher" });
    const launch = { ...rest, batchId: "mate", id: "l", at: 1, owner: "i", machine: "" };
    await store.write((transaction) => transaction.openLaunch(launch));
    expect((await prune(store)).kept).toEqual({ parent: 1, batch: 1 });
    await store.closeLaunch("l");
    expect((await prune(store)).removed.tasks).toBe(2);
  });

  test("tasks of a work item stay while it has worktrees, unmerged work or queued follow-ups", async () => {
    const store = await bed.fresh();
    const { board } = store;
    await fillBoard(store);
    await board.addWorkItem(sampleItem("other"));
    await board.addAttempt(sampleAttempt("second"), []);
    await board.addAttempt(sampleAttempt("foreign", { workItemId: "other" }), []);
    await create(store, "t", { batchId: "a", parentSessionId: "" });
    await board.addSession(sampleSession("s", { attemptId: "a", taskId: "t" }));
    await store.apply("t", completed(2_000));
    await createAlone(store, "live");
    const keeps = async (kept: PruneStep["kept"]) => expect((await prune(store)).kept).toEqual(kept);
    await keeps({ attempt: 1 });
    await board.changeAttempt("a", { folder: "/f/a", paths: { r: "/f/a/r" } }, 3);
    await board.mergeAttempt("a", { r: "c" }, 3);
    await keeps({ attempt: 1 });
    await board.changeAttempt("a", { folder: null, paths: null }, 4);
    await keeps({ attempt: 1 });
    await board.changeAttempt("second", { state: "failed" }, 5);
    const followUp = { id: "f", sessionId: "s", prompt: "go on", variant: null, queuedAt: 1 };
    await board.queueFollowUp(followUp);
    await keeps({ follow_up: 1 });
    await board.cancelFollowUps("s");
    const version = await board.version();
    expect((await prune(store)).removed).toMatchObject({ tasks: 1, board_sessions: 1 });
    expect(await board.version()).toBeGreaterThan(version);
    expect(await board.attempt("a")).toMatchObject({ state: "merged", latestSession: null, taskStatus: null });
    expect((await board.workItem("w"))?.status).toBe("done");
  });

  test("the newest event of the feed stays, so that its position never goes back", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b"]) {
      await createAlone(store, id);
      await store.apply(id, completed(2_000));
    }
    const lastSeq = await store.lastSeq();
    expect(await prune(store)).toMatchObject({ removed: { tasks: 1 }, kept: { newest: 1 } });
    expect([await store.lastSeq(), await idsIn(store)]).toEqual([lastSeq, ["b"]]);
  });

  test("tasks that are named go alone, even the newest: the position of the feed still never goes back", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b", "c"]) {
      await createAlone(store, id);
      await store.apply(id, completed(2_000));
    }
    await store.apply("c", resumed(3_000));
    await store.apply("b", { type: "task.cleared", at: 2_500 });
    const lastSeq = await store.lastSeq();
    const named = { endedBefore: CUTOFF, after: null, dryRun: false };
    expect(await store.prune({ ...named, ids: ["b", "c", "unknown"] })).toMatchObject({
      removed: { tasks: 1, runs: 1 },
      kept: {},
      next: null,
    });
    expect(await idsIn(store)).toEqual(["a", "c"]);
    expect([await store.lastSeq(), await store.pruned()]).toEqual([lastSeq, { tasks: 1, seq: lastSeq }]);
    await createAlone(store, "next");
    expect(await store.lastSeq()).toBeGreaterThan(lastSeq);
    expect((await store.feed(lastSeq)).map(({ taskId }) => taskId)).toEqual(["next"]);
    await expectReplay(store);
    await store.apply("c", completed(4_000, 1));
    await store.apply("next", completed(4_000));
    for (const id of ["next", "c", "a"]) expect((await store.prune({ ...named, ids: [id] })).removed.tasks).toBe(1);
    expect([await idsIn(store), (await store.lastSeq()) > lastSeq]).toEqual([[], true]);
  });
}

const PARENT = { host: "scripted", handler: null, agent: null, model: null, variant: null, machine: "" };

/** A task of a person, in a batch of its own: nothing else keeps it. */
function createAlone(store: Store, id: string): Promise<Task> {
  return create(store, id, { batchId: id, parentSessionId: "" });
}

function prune(store: Store): Promise<PruneStep> {
  return store.prune({ endedBefore: CUTOFF, after: null, dryRun: false });
}

async function idsIn(store: Store): Promise<string[]> {
  return (await store.tasks({ limit: 200 })).tasks.map(({ id }) => id).sort();
}

/** Folding the feed gives exactly the stored tasks, and the totals count exactly them. */
async function expectReplay(store: Store): Promise<void> {
  const folded = new Map<string, Task>();
  for (const { taskId, event } of await store.feed(0, 5_000)) {
    const { task } = transition(folded.get(taskId) ?? null, event);
    if (task === null) throw new Error(`the feed has ${event.type} of ${taskId} without its beginning`);
    folded.set(taskId, task);
  }
  for (const [id, task] of folded) expect(await store.task(id)).toEqual(task);
  const { total } = await store.tasks({});
  expect(folded.size).toBe(total);
  const live = [...folded.values()].filter(({ status }) => isLive(status)).length;
  expect((await store.tasks({ status: ["running", "resumed"] })).total).toBe(live);
}
