/**
 * The part of the store suite about the queue of runs for any runner: order, needs, claims and their fences, limits,
 * retries. See `store-conformance.ts`.
 */
import { expect, test } from "bun:test";
import { INTERRUPTED } from "../../../model/evidence.ts";
import { noProgress } from "../../../model/progress.ts";
import type { ClaimedRun, ClaimRequest, QueuedRun, RunClaim } from "../../../store/queue/run-queue.ts";
import type { Store } from "../../../store/store.ts";
import { completed, newTask } from "../../sample-task.ts";
import { LONG_TEST_TIMEOUT_MS, type StoreBed } from "./store-bed.ts";

/** A long lease, for claims that are not to run out during a test. */
const LEASE_MS = 60_000;

async function enqueue(store: Store, id: string, fields: Partial<QueuedRun> = {}): Promise<void> {
  const run: QueuedRun = {
    taskId: id,
    host: "scripted",
    model: null,
    labels: [],
    machine: null,
    priority: 0,
    retries: 0,
    source: null,
    limits: {},
    ...fields,
  };
  await store.queue.open(run);
  const task = newTask(id, { sessionId: "", messageId: "", owner: null, model: run.model });
  const written = await store.write(async (transaction) => {
    await transaction.enqueue(run);
    return transaction.apply(id, { type: "task.created", at: 1, task });
  });
  expect(written.changed).toBe(true);
}

function claim(store: Store, fields: Partial<ClaimRequest> = {}): Promise<ClaimedRun[]> {
  const offer = { runner: "runner", hosts: ["scripted"], labels: [], machine: "here" };
  return store.queue.claim({ ...offer, count: 1, leaseMs: LEASE_MS, at: 1_000, limits: {}, ...fields });
}

const idsOf = (runs: readonly RunClaim[]) => runs.map(({ taskId }) => taskId);

function begin(store: Store, { taskId, fence }: RunClaim) {
  const place = { sessionId: `session-${taskId}-${fence}`, directory: "/clone", agent: "build", model: "p/m" };
  const event = { type: "task.claimed", at: 2, run: 0, owner: "instance", messageId: `m${fence}`, ...place } as const;
  return store.queue.begin({ taskId, fence }, event);
}

async function claimed(store: Store, fields: Partial<ClaimRequest> = {}): Promise<ClaimedRun> {
  const [only, ...others] = await claim(store, fields);
  if (only === undefined || others.length > 0) throw new Error("not exactly one run was claimed");
  return only;
}

/** Claims of the past have run out on any clock. */
const expired = (store: Store) => claimed(store, { leaseMs: -1_000 });

export function queueSuite(bed: StoreBed): void {
  orderTests(bed);
  claimTests(bed);
  endTests(bed);
  limitTests(bed);
}

function orderTests(bed: StoreBed): void {
  test("runs are claimed by priority, then by age, each once", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    await enqueue(store, "b", { labels: ["gpu"] });
    await enqueue(store, "c", { priority: 5 });
    await enqueue(store, "d");
    await enqueue(store, "e", { priority: 5, model: "p/m" });
    const runs = await claim(store, { count: 3, labels: ["gpu"] });
    expect(idsOf(runs)).toEqual(["c", "e", "a"]);
    expect(runs[0]).toMatchObject({ fence: 1, task: { id: "c", status: "running", phase: "queued", sessionId: "" } });
    expect(idsOf(await claim(store, { count: 3, labels: ["gpu"] }))).toEqual(["b", "d"]);
    expect(await claim(store, { count: 3, labels: ["gpu"] })).toEqual([]);
  });

  test("a runner gets only what it can do: its hosts, its labels, its machine", async () => {
    const store = await bed.fresh();
    const source = { remote: "https://example.com/a.git", commit: "c0ffee" };
    await enqueue(store, "other host", { host: "claude" });
    await enqueue(store, "two labels", { labels: ["gpu", "eu"], limits: { cost: 2 }, retries: 1 });
    await enqueue(store, "elsewhere", { machine: "there" });
    await enqueue(store, "here", { machine: "here" });
    await enqueue(store, "anywhere", { source });
    expect(idsOf(await claim(store, { count: 9, labels: ["gpu"] }))).toEqual(["here", "anywhere"]);
    expect(idsOf(await claim(store, { count: 9, machine: "there" }))).toEqual(["elsewhere"]);
    const [labelled] = await claim(store, { count: 9, labels: ["eu", "gpu", "more"] });
    expect(labelled?.run).toMatchObject({ labels: ["eu", "gpu"], limits: { cost: 2 }, retries: 1, source: null });
    expect(idsOf(await claim(store, { count: 9, hosts: ["opencode", "claude"] }))).toEqual(["other host"]);
  });

  test("a run that was not stored with its task is not in the queue", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    await expect(enqueue(store, "a")).rejects.toThrow();
    const twice = enqueue(store, "b").then(() =>
      store.write(async (transaction) => {
        const run = { taskId: "c", host: "scripted", model: null, labels: [], machine: null, source: null, limits: {} };
        await transaction.enqueue({ ...run, priority: 0, retries: 0 });
        return transaction.apply("b", { type: "task.created", at: 1, task: newTask("b") });
      }),
    );
    expect(await twice).toMatchObject({ changed: false, reason: "exists" });
    expect(idsOf(await claim(store, { count: 9 }))).toEqual(["a", "b"]);
  });

  test(
    "many runners at once claim every run, and none twice",
    async () => {
      const stores = await bed.handles(3);
      const [store] = stores as [Store];
      for (let index = 0; index < 24; index++) await enqueue(store, `t${index}`, { priority: index % 3 });
      const all = async (each: Store): Promise<string[]> => {
        const ids: string[] = [];
        for (let none = 0; none < 3; ) {
          const runs = await claim(each, { count: 2 });
          if (runs.length === 0) none++;
          ids.push(...idsOf(runs));
        }
        return ids;
      };
      const ids = (await Promise.all(stores.map(all))).flat();
      expect(new Set(ids).size).toBe(24);
      expect(ids).toHaveLength(24);
    },
    LONG_TEST_TIMEOUT_MS,
  );
}

function claimTests(bed: StoreBed): void {
  test("a claim that ran out is claimed by another; the first one can do nothing with it any more", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const first = await expired(store);
    const second = await claimed(store, { runner: "another" });
    expect([first.fence, second.fence]).toEqual([1, 2]);
    expect(await store.queue.extend([first], { leaseMs: LEASE_MS, at: 1_000 })).toMatchObject([{ taskId: "a" }]);
    expect(await store.queue.release(first)).toBe(false);
    expect(await begin(store, first)).toMatchObject({ changed: false, reason: "other_owner" });
    expect(await store.task("a")).toMatchObject({ sessionId: "", owner: null, phase: "queued" });
    expect(await begin(store, second)).toMatchObject({ changed: true });
    expect(await begin(store, second)).toMatchObject({ changed: false, reason: "other_owner" });
  });

  test("an extended claim does not run out", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const run = await expired(store);
    expect(await store.queue.extend([run], { leaseMs: LEASE_MS, at: 1_000 })).toEqual([]);
    expect(await claim(store)).toEqual([]);
    expect(await begin(store, run)).toMatchObject({ changed: true });
  });

  test("a released run waits in its place again", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    await enqueue(store, "b");
    const run = await claimed(store);
    expect([await store.queue.release(run), await store.queue.release(run)]).toEqual([true, false]);
    expect(idsOf(await claim(store, { count: 2 }))).toEqual(["a", "b"]);
  });

  test("a run that began has its session, and is not in the queue any more", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const run = await claimed(store);
    await begin(store, run);
    const place = { sessionId: "session-a-1", directory: "/clone", agent: "build", model: "p/m" };
    expect(await store.task("a")).toMatchObject({ ...place, owner: "instance", phase: "starting", status: "running" });
    expect((await store.task("a"))?.run).toMatchObject({ number: 0, messageId: "m1" });
    expect(await claim(store, { at: 1e15 })).toEqual([]);
    expect(await store.apply("a", completed(3))).toMatchObject({ changed: true });
  });
}

function endTests(bed: StoreBed): void {
  test("a run that is cancelled in the queue is never claimed, and its parent is told once", async () => {
    const store = await bed.fresh();
    const cancelled = { type: "run.cancelled", at: 2, run: 0, reason: "not needed", progress: null } as const;
    await enqueue(store, "a");
    await enqueue(store, "b");
    const run = await claimed(store);
    for (const id of ["a", "b"]) expect((await store.apply(id, cancelled)).changed).toBe(true);
    expect(await store.task("a")).toMatchObject({ status: "cancelled", phase: null, sessionId: "" });
    expect(await begin(store, run)).toMatchObject({ changed: false, reason: "ended" });
    expect(await store.queue.release(run)).toBe(false);
    expect(await claim(store, { count: 9 })).toEqual([]);
    expect((await store.notices("parent", "pending")).map(({ taskId }) => taskId)).toEqual(["a", "b"]);
  });

  test("an interrupted run ends, unless a retry was asked for: then it waits again, and nobody is told", async () => {
    const store = await bed.fresh();
    const progress = { ...noProgress(2), toolCalls: 3 };
    const interrupted = { type: "run.failed", at: 3, run: 0, error: INTERRUPTED, progress } as const;
    await enqueue(store, "once");
    await begin(store, await claimed(store));
    expect((await store.apply("once", interrupted)).task).toMatchObject({ status: "error" });
    await enqueue(store, "twice", { retries: 1 });
    await begin(store, await claimed(store));
    const again = await store.apply("twice", interrupted, { owner: "instance", fence: 1, by: "instance" });
    expect(again.task).toMatchObject({ status: "running", phase: "queued", sessionId: "", owner: null });
    expect(again.task?.run.before.toolCalls).toBe(3);
    expect((await store.notices("parent", "pending")).map(({ taskId }) => taskId)).toEqual(["once"]);
    const run = await claimed(store);
    expect(run).toMatchObject({ taskId: "twice", fence: 2, run: { retries: 0 } });
    expect(await begin(store, run)).toMatchObject({ task: { sessionId: "session-twice-2" } });
    expect((await store.task("twice"))?.run).toMatchObject({ messageId: "m2", before: { toolCalls: 3 } });
    expect((await store.apply("twice", interrupted)).task).toMatchObject({ status: "error" });
    expect(await claim(store, { count: 9 })).toEqual([]);
  });

  test("a retry is not for errors of the agent, and not for a run that is to be cancelled", async () => {
    const store = await bed.fresh();
    const failed = (error: string) => ({ type: "run.failed", at: 3, run: 0, error, progress: null }) as const;
    await enqueue(store, "a", { retries: 1 });
    await enqueue(store, "b", { retries: 1 });
    for (const run of await claim(store, { count: 2 })) await begin(store, run);
    expect((await store.apply("a", failed("the model refused"))).task?.status).toBe("error");
    await store.apply("b", { type: "cancel.requested", at: 2, run: 0 });
    expect((await store.apply("b", failed(INTERRUPTED))).task?.status).toBe("error");
  });
}

function limitTests(bed: StoreBed): void {
  test("limits count what is claimed and at work: in total, per host, per model and per label", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b", "c"]) await enqueue(store, id, { labels: ["gpu"], model: "p/m" });
    for (const id of ["d", "e"]) await enqueue(store, id, { host: "claude" });
    const offer = { count: 9, labels: ["gpu"], hosts: ["scripted", "claude"] };
    const perLabel = await claim(store, { ...offer, limits: { labels: { gpu: 1 }, hosts: { claude: 1 } } });
    expect(idsOf(perLabel)).toEqual(["a", "d"]);
    for (const run of perLabel) await begin(store, run);
    expect(await claim(store, { ...offer, limits: { labels: { gpu: 1 }, hosts: { claude: 1 } } })).toEqual([]);
    expect(idsOf(await claim(store, { ...offer, limits: { models: { "p/m": 2 }, hosts: { claude: 1 } } }))).toEqual([
      "b",
    ]);
    expect(await claim(store, { ...offer, limits: { total: 3 } })).toEqual([]);
    await store.apply("a", completed(3));
    expect(idsOf(await claim(store, { ...offer, limits: { total: 3 } }))).toEqual(["c"]);
  });

  test("a claim that ran out does not use up a limit", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    await expired(store);
    expect(idsOf(await claim(store, { limits: { total: 1 } }))).toEqual(["a"]);
  });

  test(
    "several runners at once never exceed a limit",
    async () => {
      const stores = await bed.handles(4);
      const [store] = stores as [Store];
      for (let index = 0; index < 12; index++) await enqueue(store, `t${index}`);
      const rounds = [3, 5].map((total) => async () => {
        const runs = await Promise.all(stores.map((each) => claim(each, { count: 3, limits: { total } })));
        return runs.flat().length;
      });
      expect([await rounds[0]?.(), await rounds[1]?.()]).toEqual([3, 2]);
    },
    LONG_TEST_TIMEOUT_MS,
  );
}
