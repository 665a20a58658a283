import { describe, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Client } from "pg";
import { delayingProxy } from "../../../bench/postgres/delaying-proxy.ts";
import type { TaskEvent } from "../../../src/model/events.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { QueuedRun } from "../../../src/store/queue/run-queue.ts";
import type { Store } from "../../../src/store/store.ts";
import { fillBoard } from "../../../src/testing/sample-board.ts";
import { sampleInstance } from "../../../src/testing/sample-instance.ts";
import { completed, create, newTask } from "../../../src/testing/sample-task.ts";
import { startPostgresServer } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(30_000);

const server = await startPostgresServer();
const { connectionString } = server;
let schemas = 0;

async function openStore(address = connectionString, schema = `batches_${schemas++}`): Promise<Store> {
  const store = await postgresStore({ connectionString: address, schema });
  onTestFinished(() => store.close());
  return store;
}

/** A connection of somebody else. */
async function foreignClient(): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const IDS = Array.from({ length: 12 }, (_, number) => `task-${number}`);
const phased = (at: number): TaskEvent => ({ type: "run.phased", at, run: 0, phase: "working", detail: null });

function queued(taskId: string, retries = 0): QueuedRun {
  const needs = { host: "scripted", model: null, labels: [], machine: null, remote: null };
  return { taskId, ...needs, priority: 0, retries, source: null, bound: null, limits: {} };
}

async function enqueueAll(store: Store, ids: readonly string[], retries = 0): Promise<void> {
  await store.addInstance(sampleInstance("instance"));
  await store.queue.open(queued(""));
  const made = ids.map((id) => {
    const task = newTask(id, { sessionId: "", messageId: "", owner: null });
    return store.queue.enqueue(queued(id, retries), { type: "task.created", at: 1, task });
  });
  expect((await Promise.all(made)).every(({ changed }) => changed)).toBe(true);
}

function claimAll(store: Store, fields: { leaseMs?: number } = {}) {
  const offer = { runner: "runner", hosts: ["scripted"], labels: [], machine: "", limits: {} };
  return store.queue.claim({ ...offer, count: 100, leaseMs: 60_000, at: 1, ...fields });
}

const claimedBy = (id: string, owner = "instance"): TaskEvent => {
  const place = { sessionId: `session-${id}`, directory: "/repo", agent: "explore", model: null, messageId: `m-${id}` };
  return { type: "task.claimed", at: 2, run: 0, owner, ...place };
};

describe("changes that come together", () => {
  test("go together, with the round trips of a few, and each has its own outcome", async () => {
    const proxy = await delayingProxy(connectionString, 10);
    onTestFinished(() => proxy.close());
    const store = await openStore(proxy.connectionString);
    await Promise.all(IDS.slice(1).map((id) => create(store, id)));
    await Bun.sleep(200);
    const before = proxy.trips;
    const outcomes = await Promise.all(IDS.map((id) => store.apply(id, phased(2))));
    // Two transactions, and the order of the feed.
    expect(proxy.trips - before).toBeLessThan(12);
    expect(outcomes.map(({ changed }) => changed)).toEqual(IDS.map((_, index) => index > 0));
    expect(outcomes[0]).toMatchObject({ reason: "unknown_task" });
    expect(await store.task("task-5")).toMatchObject({ phase: "working" });
  });

  test("a change of another owner or an earlier fence is refused, and the others are not", async () => {
    const store = await openStore();
    await Promise.all(IDS.map((id) => create(store, id)));
    const outcomes = await Promise.all(
      IDS.map((id, index) => {
        const owner = index === 5 ? "another" : "instance";
        return store.apply(id, completed(2), { owner, fence: index === 6 ? 7 : 0, by: owner });
      }),
    );
    const refused = IDS.filter((_, index) => outcomes[index]?.changed === false);
    expect(refused).toEqual(["task-5", "task-6"]);
    expect(outcomes[5]).toMatchObject({ reason: "other_owner" });
    for (const id of refused) expect(await store.task(id)).toMatchObject({ status: "running" });
  });

  test("somebody who locks one of the tasks holds up only that one", async () => {
    const store = await openStore();
    await Promise.all(IDS.map((id) => create(store, id)));
    const client = await foreignClient();
    await client.query("begin; select pg_advisory_xact_lock(hashtextextended('task:task-3', 0))");
    const isDone = new Set<string>();
    const writes = IDS.map((id) => store.apply(id, completed(2)).then(() => isDone.add(id)));
    await Promise.all(writes.filter((_, index) => index !== 3));
    expect(isDone.has("task-3")).toBe(false);
    expect(await store.task("task-3")).toMatchObject({ status: "running" });
    await client.query("commit");
    await Promise.all(writes);
    expect(await store.task("task-3")).toMatchObject({ status: "completed" });
  });

  test("one that is wrong, or that the database does not store, fails alone", async () => {
    const store = await openStore(connectionString, "refusing");
    const client = await foreignClient();
    await client.query(`create function refusing.refuse() returns trigger language plpgsql as
      $$ begin raise 'refused here'; end $$;
      create trigger refuse before insert on refusing.tasks for each row when (new.id = 'task-8')
      execute function refusing.refuse()`);
    const outcomes = await Promise.allSettled(
      IDS.map((id, index) => {
        const wrong = index === 4 ? "another" : id;
        return store.apply(id, { type: "task.created", at: 1, task: newTask(wrong) });
      }),
    );
    const failed = IDS.filter((_, index) => outcomes[index]?.status === "rejected");
    expect(failed).toEqual(["task-4", "task-8"]);
    expect((outcomes[8] as PromiseRejectedResult).reason.message).toContain("refused here");
    expect((await store.tasks({})).tasks.map(({ id }) => id).toSorted()).toEqual(
      IDS.filter((id) => !failed.includes(id)).toSorted(),
    );
  });

  test("of a batch's tasks that end together one is the last, and each notice counts those before it", async () => {
    const store = await openStore();
    await Promise.all(IDS.map((id) => create(store, id)));
    await Promise.all(IDS.map((id) => store.apply(id, completed(2))));
    const notices = await store.notices("parent", "pending");
    const counts = notices.map(({ batchEnded }) => batchEnded).toSorted((one, other) => one - other);
    expect(counts).toEqual(IDS.map((_, index) => index + 1));
    for (const { batchEnded, batchLive } of notices) expect(batchEnded + batchLive).toBe(IDS.length);
  });

  test("the totals are those of all", async () => {
    const store = await openStore();
    await Promise.all(IDS.map((id, index) => create(store, id, { agent: index % 2 ? "odd" : "even" })));
    await Promise.all(IDS.map((id, index) => store.apply(id, completed(2_000 + index))));
    const [even, odd] = await store.agentTotals();
    expect(even).toMatchObject({ agent: "even", endedRuns: 6, durationMin: 1_000, durationMax: 1_010 });
    expect(odd).toMatchObject({ agent: "odd", endedRuns: 6, durationMin: 1_001, durationMax: 1_011 });
    expect(odd?.byStatus).toMatchObject({ running: 0, completed: 6 });
  });

  test("a work item moves with its attempt's task, whatever else is written", async () => {
    const store = await openStore();
    await fillBoard(store);
    const batchOf = (id: string) => (id === "task-7" ? { batchId: "a" } : {});
    await Promise.all(IDS.map((id) => create(store, id, batchOf(id))));
    expect(await store.board.workItem("w")).toMatchObject({ status: "inprogress" });
    await Promise.all(IDS.map((id) => store.apply(id, completed(2))));
    expect(await store.board.workItem("w")).toMatchObject({ status: "inreview" });
  });
});

describe("queued runs that begin and end together", () => {
  test("begin with their claims, and leave the queue", async () => {
    const store = await openStore();
    await enqueueAll(store, IDS);
    const claims = await claimAll(store);
    expect(claims.map(({ taskId }) => taskId).toSorted()).toEqual(IDS.toSorted());
    const begun = await Promise.all(claims.map((claim) => store.queue.begin(claim, claimedBy(claim.taskId))));
    expect(begun.every(({ changed }) => changed)).toBe(true);
    // A claim ends once.
    const again = await Promise.all(claims.map((claim) => store.queue.begin(claim, claimedBy(claim.taskId, "late"))));
    expect(again.every(({ changed }) => !changed)).toBe(true);
    await Promise.all(IDS.map((id) => store.apply(id, completed(3))));
    expect(await claimAll(store)).toEqual([]);
    expect(await store.task("task-3")).toMatchObject({ status: "completed", owner: null, sessionId: "session-task-3" });
  });

  test("a run does not begin for somebody who is not registered", async () => {
    const store = await openStore();
    await enqueueAll(store, IDS);
    const outcomes = await Promise.all(
      (await claimAll(store)).map((claim, index) =>
        store.queue.begin(claim, claimedBy(claim.taskId, index === 3 ? "nobody" : "instance")),
      ),
    );
    expect(outcomes.map(({ changed }) => changed)).toEqual(IDS.map((_, index) => index !== 3));
    expect(outcomes[3]).toMatchObject({ reason: "other_owner" });
    expect(await store.task(outcomes[3]?.task?.id ?? "")).toMatchObject({ sessionId: "", owner: null });
  });

  test("a claim that was lost is refused, and the others begin", async () => {
    const store = await openStore();
    await enqueueAll(store, IDS);
    const lost = await claimAll(store, { leaseMs: -1_000 });
    const held = await claimAll(store);
    const outcomes = await Promise.all(
      held.map((claim, index) => {
        const { taskId } = claim;
        const fence = index === 4 ? claim.fence - 1 : claim.fence;
        return store.queue.begin({ taskId, fence }, claimedBy(taskId));
      }),
    );
    expect(lost).toHaveLength(IDS.length);
    expect(outcomes.map(({ changed }) => changed)).toEqual(IDS.map((_, index) => index !== 4));
    expect(outcomes[4]).toMatchObject({ reason: "other_owner" });
  });

  test("a run with a retry left goes back to the queue beside others that end", async () => {
    const store = await openStore();
    await enqueueAll(store, IDS, 1);
    const claims = await claimAll(store);
    await Promise.all(claims.map((claim) => store.queue.begin(claim, claimedBy(claim.taskId))));
    const failed: TaskEvent = { type: "run.failed", at: 3, run: 0, error: INTERRUPTED, progress: null };
    await Promise.all(IDS.map((id) => store.apply(id, id === "task-2" ? failed : completed(3))));
    expect(await store.task("task-2")).toMatchObject({ status: "running", phase: "queued", sessionId: "" });
    expect((await claimAll(store)).map(({ taskId }) => taskId)).toEqual(["task-2"]);
  });
});
