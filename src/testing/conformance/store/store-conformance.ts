/**
 * The requirements for every store, run on each database: `storeConformance("sqlite", freshStore)`. Covers only the
 * Store seam; each driver has its own tests for the rest (files, locks, reconnecting). Waits for changes, never for
 * time.
 */
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TaskEvent } from "../../../model/events.ts";
import { noProgress } from "../../../model/progress.ts";
import type { Task } from "../../../model/task.ts";
import { transition } from "../../../model/transition.ts";
import type { Launch, Parent, Store } from "../../../store/store.ts";
import { anyId, anyTaskEvent } from "../../any-event.ts";
import { sampleInstance } from "../../sample-instance.ts";
import { completed, create, newTask } from "../../sample-task.ts";
import { accessSuite } from "./access.ts";
import { afterSuite } from "./after.ts";
import { boardFlowSuite, boardListSuite } from "./board.ts";
import { budgetStoreSuite } from "./budgets.ts";
import { conflictSuite } from "./conflicts.ts";
import { historySuite, spanSuite, totalsSuite } from "./figures.ts";
import { followerStoreSuite } from "./followers.ts";
import { leasesSuite } from "./leases.ts";
import { longTextSuite } from "./long-texts.ts";
import { feedSuite, storeNoticeSuite } from "./notices.ts";
import { notificationSuite } from "./notifications.ts";
import { pageSuite } from "./pages.ts";
import { pruneSuite } from "./pruning.ts";
import { queueSuite } from "./queue.ts";
import { remoteCallSuite } from "./remote-calls.ts";
import { runnersSuite } from "./runners.ts";
import { workSpanSuite } from "./spans.ts";
import { steeringStoreSuite } from "./steering.ts";
import { LONG_TEST_TIMEOUT_MS, propertyTest, type StoreBed } from "./store-bed.ts";
import { batchSuite, inboxSuite, querySuite, taskSuite, transactionSuite } from "./tasks.ts";
import { transcriptSuite } from "./transcripts.ts";

/** Opens another handle on the same store. */
export type OpenStore = () => Promise<Store>;

/** `makeStore` creates a new, empty store each time, and returns a function that opens handles on it. */
export function storeConformance(name: string, makeStore: () => Promise<OpenStore>): void {
  const opened: Store[] = [];
  const handles = async (count: number) => {
    const open = await makeStore();
    const stores = await Promise.all(Array.from({ length: count }, open));
    opened.push(...stores);
    return stores;
  };
  const bed: StoreBed = {
    handles,
    async fresh() {
      const [store] = await handles(1);
      if (store === undefined) throw new Error("no store was opened");
      return store;
    },
  };
  describe(`store on ${name}`, () => {
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });
    describe("tasks", () => taskSuite(bed));
    describe("inbox", () => inboxSuite(bed));
    describe("conflicts", () => conflictSuite(bed));
    describe("transactions", () => transactionSuite(bed));
    describe("queries", () => querySuite(bed));
    describe("pages", () => pageSuite(bed));
    describe("batches", () => batchSuite(bed));
    describe("runs of a batch", () => spanSuite(bed));
    describe("totals", () => totalsSuite(bed));
    describe("long texts", () => longTextSuite(bed));
    describe("history", () => historySuite(bed));
    describe("notices", () => storeNoticeSuite(bed));
    describe("leases and fences", () => leasesSuite(bed));
    describe("feed", () => feedSuite(bed));
    describe("lists of the board", () => boardListSuite(bed));
    describe("the board while tasks progress", () => boardFlowSuite(bed));
    describe("tokens and the audit log", () => accessSuite(bed));
    describe("pruning", () => pruneSuite(bed));
    describe("queue", () => queueSuite(bed));
    describe("runners", () => runnersSuite(bed));
    describe("steering", () => steeringStoreSuite(bed));
    describe("followers", () => followerStoreSuite(bed));
    describe("after", () => afterSuite(bed));
    describe("budgets", () => budgetStoreSuite(bed));
    describe("transcripts", () => transcriptSuite(bed));
    describe("spans", () => workSpanSuite(bed));
    describe("notifications", () => notificationSuite(bed));
    describe("remote calls", () => remoteCallSuite(bed));
    describe("writers", () => writerSuite(bed));
    describe("launches, parents, instances", () => othersSuite(bed));
    describe("replay", () => replaySuite(bed));
  });
}

function writerSuite(bed: StoreBed): void {
  test(
    "reading and writing in one transaction loses no update, however many write concurrently",
    async () => {
      const stores = await bed.handles(3);
      const [store] = stores as [Store];
      await create(store, "a");
      const increment = (each: Store) =>
        each.write(async (transaction) => {
          const progress = (await transaction.task("a"))?.progress ?? noProgress(0);
          const next = { ...progress, toolCalls: progress.toolCalls + 1 };
          await transaction.apply("a", { type: "run.progressed", at: 1, run: 0, progress: next });
        });
      await Promise.all(stores.flatMap((each) => Array.from({ length: 30 }, () => increment(each))));
      expect((await store.task("a"))?.progress.toolCalls).toBe(90);
    },
    LONG_TEST_TIMEOUT_MS,
  );

  test("of many attempts to create or end one task, one succeeds", async () => {
    const stores = await bed.handles(3);
    const changes = async (event: TaskEvent) =>
      (await Promise.all(stores.map((each) => each.apply("a", event)))).filter((outcome) => outcome.changed).length;
    expect(await changes({ type: "task.created", at: 1, task: newTask("a") })).toBe(1);
    expect(await changes(completed(2))).toBe(1);
    expect((await stores[0]?.notices("parent", "pending"))?.length).toBe(1);
  });

  test("after closing, reads and writes report that the store was closed; closing twice is fine", async () => {
    const store = await bed.fresh();
    await store.close();
    await store.close();
    await expect(store.task("a")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(create(store, "a")).rejects.toMatchObject({ code: "store_unavailable" });
  });
}

function othersSuite(bed: StoreBed): void {
  test("a launch exists until it is closed, even within the transaction that writes its task", async () => {
    const store = await bed.fresh();
    const { id: _id, sessionId: _sessionId, owner: _owner, ...rest } = newTask("x", { model: "p/m", isForked: true });
    const launch = (id: string, at: number): Launch => ({ ...rest, id, at, owner: "instance", machine: "here" });
    for (const [id, at] of [
      ["l2", 2],
      ["l1", 1],
      ["l3", 3],
    ] as const) {
      await store.write((transaction) => transaction.openLaunch(launch(id, at)));
    }
    expect(await store.launches()).toEqual([launch("l1", 1), launch("l2", 2), launch("l3", 3)]);
    expect(await store.launches({ at: 1, id: "l1" })).toEqual([launch("l2", 2), launch("l3", 3)]);
    expect(await store.launches({ at: 3, id: "l2" })).toEqual([launch("l3", 3)]);
    expect([await store.closeLaunch("l2"), await store.closeLaunch("l2")]).toEqual([true, false]);
    await store.write(async (transaction) => {
      await transaction.closeLaunch("l1");
      await transaction.apply("x", { type: "task.created", at: 4, task: newTask("x") });
    });
    expect((await store.launches()).map((each) => each.id)).toEqual(["l3"]);
  });

  test("the newest information about a parent counts", async () => {
    const store = await bed.fresh();
    const parent: Parent = {
      sessionId: "p",
      host: "opencode",
      handler: "i1",
      agent: "build",
      model: "a/b",
      variant: null,
      seenAt: 1,
      machine: "here",
    };
    expect(await store.parent("p")).toBeNull();
    await store.putParent(parent);
    expect(await store.parent("p")).toEqual(parent);
    const nobody = { host: null, handler: null, agent: null, model: null };
    const next: Parent = { sessionId: "p", ...nobody, variant: "high", seenAt: 2, machine: "" };
    await store.write((transaction) => transaction.putParent(next));
    expect(await store.parent("p")).toEqual(next);
  });

  test("instances are listed until they end", async () => {
    const store = await bed.fresh();
    const instance = (id: string, startedAt: number) => sampleInstance(id, { startedAt });
    await store.addInstance(instance("i2", 2));
    await store.addInstance(instance("i1", 1));
    await store.addInstance(instance("i1", 3));
    expect(await store.instances()).toEqual([instance("i2", 2), instance("i1", 3)]);
    expect([await store.beat("i1"), await store.beat("i1"), await store.beat("nobody")]).toEqual([true, true, false]);
    expect((await store.instances()).map(({ beat }) => beat)).toEqual([0, 2]);
    await store.addInstance(instance("i1", 3));
    await store.endInstance("i2");
    await store.endInstance("nobody");
    expect(await store.instances()).toEqual([instance("i1", 3)]);
  });
}

/** Progress of the newest run is replaced; a resume builds on that of the runs before it. */
function withoutProgressOfRun(types: readonly TaskEvent["type"][]): TaskEvent["type"][] {
  const resumed = types.lastIndexOf("task.resumed");
  return types.filter((type, index) => type !== "run.progressed" || index < resumed);
}

function replaySuite(bed: StoreBed): void {
  test("the progress of an earlier run stays in the feed, because the next run builds on it", async () => {
    const store = await bed.fresh();
    const progress = (toolCalls: number) => ({ ...noProgress(1), toolCalls });
    const events: TaskEvent[] = [
      { type: "task.created", at: 1, task: newTask("a") },
      { type: "run.progressed", at: 2, run: 0, progress: progress(1) },
      { type: "run.progressed", at: 3, run: 0, progress: progress(2) },
      { type: "run.completed", at: 4, run: 0, result: "", progress: null },
      { type: "task.resumed", at: 5, prompt: "more", messageId: "m", owner: "i", allow: [] },
      { type: "run.progressed", at: 6, run: 1, progress: progress(3) },
      { type: "run.completed", at: 7, run: 1, result: "", progress: progress(4) },
    ];
    for (const event of events) expect((await store.apply("a", event)).changed).toBe(true);
    const left = await store.feed(0);
    expect(left.map(({ event }) => event.at)).toEqual([1, 3, 4, 5, 7]);
    const folded = left.reduce<Task | null>((task, { event }) => transition(task, event).task, null);
    expect(folded).toMatchObject({ run: { before: { toolCalls: 2 } }, progress: { toolCalls: 4 } });
    expect(folded).toEqual(await store.task("a"));
  });

  propertyTest("folding the events of a task gives the task; refused events leave no trace", 40, async () => {
    const store = await bed.fresh();
    let attempt = 0;
    const lives = anyId.chain((start) => {
      const id = `${start}#${attempt++}`;
      return fc.tuple(fc.constant(id), fc.array(anyTaskEvent(id), { minLength: 1, maxLength: 20 }));
    });
    return fc.asyncProperty(lives, async ([given, events]) => {
      const id = given.toWellFormed().replaceAll("\0", "\uFFFD");
      const began = await store.lastSeq();
      let changes = 0;
      let kept: TaskEvent["type"][] = [];
      const born = { type: "task.created", at: 1, task: newTask(given) } as const;
      for (const event of [...events.slice(0, 1), born, ...events.slice(1)]) {
        const outcome = await store.apply(given, event);
        if (outcome.changed) {
          changes++;
          if ("progress" in event && event.progress !== null) kept = withoutProgressOfRun(kept);
          // What waits for a runner is cancelled at once.
          const isCancel = event.type === "cancel.requested" && outcome.task.status === "cancelled";
          kept.push(isCancel ? "run.cancelled" : event.type);
        }
        expect(await store.task(given)).toEqual(outcome.task);
      }
      const entries = (await store.feed(began)).filter((entry) => entry.taskId === id);
      expect(entries.map((entry) => entry.event.type)).toEqual(kept);
      // Progress that was superseded at once may never have had a place.
      const places = (await store.lastSeq()) - began;
      expect(places).toBeLessThanOrEqual(changes);
      expect(places).toBeGreaterThanOrEqual(kept.length);
      const folded = entries.reduce<Task | null>((task, { event }) => transition(task, event).task, null);
      expect(folded).toEqual(await store.task(given));
    });
  });
}
