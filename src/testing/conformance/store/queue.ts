/**
 * The part of the store suite about the queue of runs for any runner: order, needs, claims and their fences, limits,
 * retries. See `store-conformance.ts`.
 */
import { expect, test } from "bun:test";
import { INTERRUPTED } from "../../../model/evidence.ts";
import { noProgress } from "../../../model/progress.ts";
import type { ClaimedRun, ClaimRequest, QueuedRun, RunClaim } from "../../../store/queue/run-queue.ts";
import type { Store } from "../../../store/store.ts";
import { sampleInstance } from "../../sample-instance.ts";
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
    remote: null,
    priority: 0,
    retries: 0,
    source: null,
    bound: null,
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

async function begin(store: Store, claim: RunClaim) {
  await store.addInstance(sampleInstance("instance"));
  return beginAs(store, claim);
}

/** Without registering the owner. */
function beginAs(store: Store, { taskId, fence }: RunClaim) {
  const clone = { hostname: "build-1", remote: "git@example.com:a.git", branch: "asyncagents/a" };
  const place = { sessionId: `session-${taskId}-${fence}`, directory: "/clone", agent: "build", model: "p/m", clone };
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
    const remote = "https://example.com/a.git";
    const source = { commit: "c0ffee", path: "sub", machine: "there", directory: "/place/sub" };
    await enqueue(store, "other host", { host: "claude" });
    await enqueue(store, "two labels", { labels: ["gpu", "eu"], limits: { cost: 2 }, retries: 1 });
    await enqueue(store, "elsewhere", { machine: "there" });
    await enqueue(store, "here", { machine: "here" });
    await enqueue(store, "anywhere", { remote, source });
    expect(await claim(store, { count: 9, machine: "", withoutRemotes: ["x", remote] })).toEqual([]);
    const [here, anywhere] = await claim(store, { count: 9, labels: ["gpu"], withoutRemotes: ["x"] });
    expect([here?.run, anywhere?.run]).toMatchObject([
      { taskId: "here", remote: null, source: null },
      { taskId: "anywhere", remote, source, machine: null },
    ]);
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
        const needs = { host: "scripted", model: null, labels: [], machine: null, remote: null };
        const run = { ...needs, taskId: "c", source: null, bound: null, limits: {}, priority: 0, retries: 0 };
        await transaction.enqueue(run);
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
  test("nobody begins a run for an owner that is not registered", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const run = await claimed(store);
    expect(await beginAs(store, run)).toMatchObject({ changed: false, reason: "other_owner" });
    expect(await store.task("a")).toMatchObject({ phase: "queued", sessionId: "", owner: null });
    expect(await begin(store, run)).toMatchObject({ changed: true, task: { owner: "instance" } });
  });

  test("what an instance claimed and did not begin waits again as soon as it is ended", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b", "c", "d"]) await enqueue(store, id);
    await store.addInstance(sampleInstance("alive", { machine: "far" }), LEASE_MS);
    await store.addInstance(sampleInstance("over", { machine: "far" }), -1);
    const [begun, lost] = await claim(store, { runner: "over", count: 2 });
    await claim(store, { runner: "alive", count: 1 });
    if (!begun || !lost) throw new Error("nothing was claimed");
    expect((await begin(store, begun)).changed).toBe(true);
    expect([await store.expireInstance("alive"), await store.expireInstance("over")]).toEqual([false, true]);
    expect(idsOf(await claim(store, { count: 9 }))).toEqual(["b", "d"]);
    expect(await begin(store, lost)).toMatchObject({ changed: false, reason: "other_owner" });
    await store.endInstance("alive");
    expect(idsOf(await claim(store, { count: 9 }))).toEqual(["c"]);
  });

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

  test("a claim that was made before the clock was set back runs out as well", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const first = await claimed(store, { leaseMs: 3_600_000 });
    const second = await claimed(store, { runner: "another" });
    expect([first.fence, second.fence]).toEqual([1, 2]);
    expect(await begin(store, first)).toMatchObject({ changed: false, reason: "other_owner" });
    expect(await begin(store, second)).toMatchObject({ changed: true });
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

  test("a released run shows why; what waits and what is at work can be read", async () => {
    const store = await bed.fresh();
    const remote = "git@example.com:a.git";
    const source = { commit: "c0ffee", path: "", machine: "there", directory: "/place" };
    await enqueue(store, "a", { remote, source, labels: ["gpu"], priority: 2 });
    await enqueue(store, "b", { machine: "here", bound: "it has uncommitted changes" });
    await enqueue(store, "c", { host: "claude" });
    expect(await store.queue.atWork()).toEqual([]);
    const offer = { count: 9, labels: ["gpu"] };
    for (const run of await claim(store, offer)) {
      if (run.taskId === "a") expect(await store.queue.release(run, "build-1: no key")).toBe(true);
    }
    const waiting = await store.queue.waiting(["a", "b", "c", "nobody"]);
    expect(waiting.toSorted((one, other) => one.taskId.localeCompare(other.taskId))).toMatchObject([
      { taskId: "a", remote, source, labels: ["gpu"], priority: 2, trouble: "build-1: no key", isClaimed: false },
      { taskId: "b", machine: "here", bound: "it has uncommitted changes", trouble: null, isClaimed: true },
      { taskId: "c", host: "claude", isClaimed: false },
    ]);
    expect(await store.queue.atWork()).toMatchObject([[{ machine: "here" }, 1]]);
    const again = await claimed(store, offer);
    await begin(store, again);
    expect(await store.queue.waiting(["a"])).toEqual([]);
    const counts = new Map((await store.queue.atWork()).map(([needs, runs]) => [needs.remote, runs]));
    expect([...counts].toSorted()).toEqual(
      [
        [remote, 1],
        [null, 1],
      ].toSorted() as [string | null, number][],
    );
    await store.apply("a", completed(3));
    expect(await store.queue.atWork()).toHaveLength(1);
    expect(await store.queue.waiting([])).toEqual([]);
  });

  test("a run that began has its session, and is not in the queue any more", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    const run = await claimed(store);
    await begin(store, run);
    const clone = { hostname: "build-1", remote: "git@example.com:a.git", branch: "asyncagents/a" };
    const place = { sessionId: "session-a-1", directory: "/clone", agent: "build", model: "p/m", clone };
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

  test("a cancel that arrives when its run went back to the queue ends it: nobody else would, until it is begun again", async () => {
    const store = await bed.fresh();
    const interrupted = { type: "run.failed", at: 3, run: 0, error: INTERRUPTED, progress: null } as const;
    await enqueue(store, "a", { retries: 1 });
    await begin(store, await claimed(store));
    expect((await store.apply("a", interrupted)).task).toMatchObject({ status: "running", phase: "queued" });
    const cancelled = await store.apply("a", { type: "cancel.requested", at: 4, run: 0 });
    expect(cancelled).toMatchObject({ changed: true, task: { status: "cancelled", run: { outcome: "cancelled" } } });
    expect(await claim(store, { count: 9 })).toEqual([]);
    expect((await store.feed(0)).at(-1)?.event).toMatchObject({ type: "run.cancelled", at: 4 });
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

  test("runners with different limits each keep to their own, and count the runs of all", async () => {
    const store = await bed.fresh();
    for (let index = 0; index < 8; index++) await enqueue(store, `t${index}`);
    const few = { runner: "few", count: 9, limits: { total: 2 } };
    const more = { runner: "more", count: 9, limits: { total: 4 } };
    const first = await claim(store, few);
    expect(first).toHaveLength(2);
    for (const run of first) await begin(store, run);
    expect(await claim(store, more)).toHaveLength(2);
    expect([await claim(store, few), await claim(store, more)]).toEqual([[], []]);
    expect(await claim(store, { runner: "any", count: 1 })).toHaveLength(1);
    for (const { taskId } of first) await store.apply(taskId, completed(3));
    // Three are left: beyond the one limit, within the other.
    expect([(await claim(store, few)).length, (await claim(store, more)).length]).toEqual([0, 1]);
  });

  test("a claim that ran out does not use up a limit", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a");
    await expired(store);
    await enqueue(store, "b", { host: "claude" });
    // Neither for those who could claim it, nor for others.
    expect(idsOf(await claim(store, { limits: { total: 1 }, hosts: ["claude"] }))).toEqual(["b"]);
    await begin(store, { taskId: "b", fence: 1 });
    await store.apply("b", completed(3));
    expect(idsOf(await claim(store, { limits: { total: 1 } }))).toEqual(["a"]);
  });

  test("a claim that ran out and made room for another run cannot begin", async () => {
    const store = await bed.fresh();
    await enqueue(store, "a", { labels: ["gpu"] });
    await enqueue(store, "b");
    const limits = { total: 1 };
    const late = await claimed(store, { labels: ["gpu"], leaseMs: -1_000, limits });
    expect(late.taskId).toBe("a");
    // By a runner that could not do the first one itself.
    expect(idsOf(await claim(store, { limits }))).toEqual(["b"]);
    expect((await begin(store, late)).changed).toBe(false);
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
