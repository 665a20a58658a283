import { describe, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Client } from "pg";
import { delayingProxy } from "../../../bench/postgres/delaying-proxy.ts";
import type { TaskEvent } from "../../../src/model/events.ts";
import { noProgress } from "../../../src/model/progress.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { transition } from "../../../src/model/transition.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { FeedEntry, Store } from "../../../src/store/store.ts";
import { sampleInstance } from "../../../src/testing/sample-instance.ts";
import { completed, create, newTask } from "../../../src/testing/sample-task.ts";
import { commitProxy } from "../commit-proxy.ts";
import { startPostgresServer } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(30_000);

const server = await startPostgresServer();
const { connectionString } = server;
let schemas = 0;

async function openStores(count: number, address = connectionString): Promise<Store[]> {
  const schema = `writers_${schemas++}`;
  const first = await postgresStore({ connectionString: address, schema });
  const others = Array.from({ length: count - 1 }, () => postgresStore({ connectionString: address, schema }));
  const stores = [first, ...(await Promise.all(others))];
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return stores;
}

/** A connection of somebody else. */
async function foreignClient(): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const failed = { type: "run.failed", run: 0, error: "interrupted", progress: null } as const;

const NEEDS = { host: "scripted", model: null, labels: [], machine: null, remote: null };
const CLAIM = {
  runner: "r",
  hosts: ["scripted"],
  labels: [],
  machine: "m",
  count: 1,
  leaseMs: 60_000,
  at: 1,
  limits: {},
};

async function enqueue(store: Store, taskId: string): Promise<void> {
  await store.queue.open(NEEDS);
  const task = newTask(taskId, { sessionId: "", owner: null });
  await store.write(async (transaction) => {
    await transaction.enqueue({ ...NEEDS, taskId, priority: 0, retries: 0, source: null, bound: null, limits: {} });
    await transaction.apply(taskId, { type: "task.created", at: 1, task });
  });
}

function progressed(at: number, toolCalls: number): TaskEvent {
  return { type: "run.progressed", at, run: 0, progress: { ...noProgress(at), toolCalls } };
}

function working(at: number): TaskEvent {
  return { type: "run.phased", at, run: 0, phase: at % 2 === 0 ? "working" : "stalled", detail: null };
}

/** Reads the feed while others write, until it is told to stop, and then to its end. */
function follow(store: Store): { stop(): Promise<FeedEntry[]> } {
  const seen: FeedEntry[] = [];
  let isStopped = false;
  const reading = (async () => {
    for (let isLast = false; ; isLast = isStopped) {
      const entries = await store.feed(seen.at(-1)?.seq ?? 0, 7);
      seen.push(...entries);
      if (entries.length === 0 && isLast) return seen;
    }
  })();
  return {
    stop() {
      isStopped = true;
      return reading;
    },
  };
}

/** What follows from the feed must be what is stored. */
async function expectReplay(store: Store, ids: readonly string[]): Promise<void> {
  const replayed = new Map<string, Task>();
  for (const { taskId, event } of await store.feed(0, 5_000)) {
    const outcome = transition(replayed.get(taskId) ?? null, event);
    expect(outcome).toMatchObject({ changed: true });
    if (outcome.task) replayed.set(taskId, outcome.task);
  }
  for (const id of ids) expect(replayed.get(id)).toEqual((await store.task(id)) as Task);
  expect(replayed.size).toBe(ids.length);
}

/** Several stores that all write about the same tasks at once. Returns how many writes of each kind were accepted. */
async function writeTogether(stores: readonly Store[], ids: readonly string[], rounds: number) {
  const accepted = { created: 0, ended: 0 };
  await Promise.all(
    stores.flatMap((store, number) =>
      ids.map(async (id) => {
        const created = await store.apply(id, { type: "task.created", at: 1, task: newTask(id) });
        if (created.changed) accepted.created++;
        for (let round = 1; round <= rounds; round++) {
          const at = round * 10 + number;
          await store.apply(id, progressed(at, at));
          await store.apply(id, working(at));
        }
        if ((await store.apply(id, completed(1_000 + number))).changed) accepted.ended++;
      }),
    ),
  );
  return accepted;
}

async function expectConsistent(store: Store, ids: readonly string[]): Promise<void> {
  await expectReplay(store, ids);
  const tasks = await Promise.all(ids.map((id) => store.task(id)));
  expect(tasks.every((task) => task !== null && !isLive(task.status))).toBe(true);
  const [totals] = await store.agentTotals();
  expect(totals?.byStatus).toMatchObject({ running: 0, completed: ids.length });
  expect(totals?.toolCalls).toBe(tasks.reduce((sum, task) => sum + (task?.progress.toolCalls ?? 0), 0));
  const ends = (await store.notices("parent", "pending", 1_000)).filter(({ kind }) => kind === "ended");
  expect(ends.map(({ taskId }) => taskId).toSorted()).toEqual(ids.toSorted());
  // Each end sees the ends before it, so that one of them is the last.
  expect(ends.map(({ batchLive }) => batchLive).toSorted((a, b) => a - b)[0]).toBe(0);
  expect(new Set(ends.map(({ batchEnded }) => batchEnded)).size).toBe(ends.length);
}

const IDS = Array.from({ length: 8 }, (_, number) => `task-${number}`);

describe("writers on PostgreSQL", () => {
  test("progress, a phase and an end with a notice take three round trips each", async () => {
    const proxy = await delayingProxy(connectionString, 10);
    onTestFinished(() => proxy.close());
    const [store] = (await openStores(1, proxy.connectionString)) as [Store];
    await create(store, "a");
    const events = [progressed(2, 1), working(3), progressed(4, 2), completed(5)];
    const trips: number[] = [];
    for (const event of events) {
      // What a commit announces comes after it.
      await Bun.sleep(100);
      const before = proxy.trips;
      await store.apply("a", event);
      trips.push(proxy.trips - before);
    }
    expect(trips).toEqual([3, 3, 3, 3]);
    expect(await store.notices("parent", "pending")).toHaveLength(2);
  });

  test("stores that write about the same tasks at once lose nothing, and the feed replays to the rows", async () => {
    const stores = await openStores(4);
    const reader = stores[0] as Store;
    const feed = follow(reader);
    const accepted = await writeTogether(stores, IDS, 3);
    const seen = await feed.stop();
    expect(accepted).toEqual({ created: IDS.length, ended: IDS.length });
    await expectConsistent(reader, IDS);
    const places = seen.map(({ seq }) => seq);
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
    // Nothing that is in the feed now was missed by somebody who followed it.
    const missed = (await reader.feed(0, 5_000)).filter(({ seq }) => !places.includes(seq));
    expect(missed).toEqual([]);
  });

  test("an event that is committed after a later one is not missed", async () => {
    const [slow, fast] = (await openStores(2)) as [Store, Store];
    const applied = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const writing = slow.write(async (transaction) => {
      await transaction.apply("slow", { type: "task.created", at: 1, task: newTask("slow") });
      applied.resolve();
      await mayCommit.promise;
    });
    await applied.promise;
    await create(fast, "fast");
    const first = await fast.feed(0);
    expect(first.map(({ taskId }) => taskId)).toEqual(["fast"]);
    expect(await fast.lastSeq()).toBe(first[0]?.seq ?? 0);
    mayCommit.resolve();
    await writing;
    const rest = await fast.feed(first[0]?.seq ?? 0);
    expect(rest.map(({ taskId }) => taskId)).toEqual(["slow"]);
  });

  test("a foreign transaction that stays open does not hold up the feed", async () => {
    const [store] = (await openStores(1)) as [Store];
    const foreign = await foreignClient();
    await foreign.query("begin; create temporary table foreign_work (id integer); insert into foreign_work values (1)");
    await create(store, "a");
    expect((await store.feed(0)).map(({ taskId }) => taskId)).toEqual(["a"]);
    await foreign.query("rollback");
  });

  test("the place of the last event never goes back, even if that event is dropped", async () => {
    const [store] = (await openStores(1)) as [Store];
    await create(store, "a");
    const places: number[] = [];
    for (let at = 1; at <= 5; at++) {
      await store.apply("a", progressed(at, at));
      places.push(await store.lastSeq());
    }
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places).size).toBe(5);
    expect((await store.feed(0)).map(({ event }) => event.type)).toEqual(["task.created", "run.progressed"]);
  });

  test("an instance that was taken for dead registers again only after what it had was taken over", async () => {
    const [one, two] = (await openStores(2)) as [Store, Store];
    const instance = sampleInstance("one", { machine: "far" });
    await one.addInstance(instance, 60_000);
    await create(one, "a", { owner: "one" });
    await two.endInstance("one");
    const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const taking = two.write(async (transaction) => {
      await transaction.apply("a", { ...failed, at: 2 }, { owner: "one", fence: 0, by: "two" });
      written.resolve();
      await mayCommit.promise;
    });
    await written.promise;
    // What it reads once it is registered must be what it still has.
    const seen = one.addInstance(instance, 60_000).then(() => one.task("a"));
    expect(await Promise.race([seen, Bun.sleep(200).then(() => "waits")])).toBe("waits");
    mayCommit.resolve();
    await taking;
    expect(await seen).toMatchObject({ status: "error" });
  });

  test("nothing is taken over from an instance that registers again meanwhile", async () => {
    const [store] = (await openStores(1)) as [Store];
    const foreign = await foreignClient();
    await create(store, "a", { owner: "one" });
    const lock = "hashtextextended('instance:one', 0)";
    await foreign.query(`select pg_advisory_lock(${lock})`);
    const taking = store.apply("a", { ...failed, at: 2 }, { owner: "one", fence: 0, by: "two" });
    expect(await Promise.race([taking, Bun.sleep(200).then(() => "waits")])).toBe("waits");
    const row = "id, pid, process_start, boot_id, pid_namespace, beat, host, directory, started_at, machine";
    await foreign.query(
      `insert into writers_${schemas - 1}.instances (${row}) values ('one', 1, '', '', '', 0, 'h', '/w', 1, 'far')`,
    );
    await foreign.query(`select pg_advisory_unlock(${lock})`);
    expect(await taking).toMatchObject({ changed: false, reason: "other_owner" });
  });

  test("a heartbeat gets through while all other connections are dead and nobody has said so", async () => {
    const proxy = await commitProxy(connectionString);
    const [store] = (await openStores(1, proxy.connectionString)) as [Store];
    await store.addInstance(sampleInstance("i", { machine: "here" }), 60_000);
    await Promise.all(Array.from({ length: 12 }, (_, number) => create(store, `t${number}`)));
    proxy.deafen();
    const stuck = Array.from({ length: 12 }, (_, number) => store.apply(`t${number}`, completed(2)).catch(() => null));
    const since = performance.now();
    const beat = () => store.beat("i", 60_000).catch(() => null);
    while ((await beat()) !== true) await Bun.sleep(100);
    // Longer than one try, and far shorter than a lease.
    expect(performance.now() - since).toBeLessThan(15_000);
    proxy.close();
    await Promise.all(stuck);
  }, 60_000);

  test("a transcript that is written while its task is pruned is not left behind", async () => {
    const [one, two] = (await openStores(2)) as [Store, Store];
    const foreign = await foreignClient();
    await create(one, "a");
    await one.apply("a", completed(2));
    await one.dropNotices("parent", "gone", 3);
    await create(one, "newer", { batchId: "other" }, 9_000);
    // Holds up the transcript after it has found its task.
    const transcripts = `writers_${schemas - 1}.transcripts (task_id, kind, run, content, at)`;
    await foreign.query(`begin; insert into ${transcripts} values ('a', 'conversation', 0, '', 0)`);
    const putting = one.transcripts.put([{ taskId: "a", kind: "conversation", run: 0, content: "x", at: 4 }]);
    await Bun.sleep(200);
    const prune = () => two.prune({ endedBefore: 5_000, after: null, dryRun: false });
    await prune();
    await foreign.query("rollback");
    await putting;
    await prune();
    expect(await one.task("a")).toBeNull();
    expect(await one.transcripts.get("a", "conversation")).toBeNull();
  });

  test("a run that begins when its claim has just run out counts for the limits", async () => {
    const [one, two] = (await openStores(2)) as [Store, Store];
    await enqueue(one, "a");
    await enqueue(one, "b");
    const claim = { ...CLAIM, limits: { total: 1 } };
    const [claimed] = await one.queue.claim({ ...claim, leaseMs: 1 });
    if (!claimed) throw new Error("nothing was claimed");
    await Bun.sleep(10);
    const [begun, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const beginning = one.write(async (transaction) => {
      await transaction.begin(claimed);
      begun.resolve();
      await mayCommit.promise;
    });
    await begun.promise;
    expect(await two.queue.claim(claim)).toEqual([]);
    mayCommit.resolve();
    await beginning;
  });

  test("a run that cannot begin and one that cancels it do not wait for each other", async () => {
    const [one, two] = (await openStores(2)) as [Store, Store];
    await enqueue(one, "a");
    const [claimed] = await one.queue.claim(CLAIM);
    if (!claimed) throw new Error("nothing was claimed");
    const begun = Promise.withResolvers<void>();
    const tries = { failing: 0, cancelling: 0 };
    const failing = one.write(async (transaction) => {
      tries.failing++;
      await transaction.begin(claimed);
      begun.resolve();
      await Bun.sleep(200);
      return transaction.apply("a", { ...failed, at: 3 });
    });
    await begun.promise;
    const cancelling = two.write(async (transaction) => {
      tries.cancelling++;
      await transaction.task("a");
      return transaction.apply("a", { type: "run.cancelled", at: 3, run: 0, reason: "x", progress: null });
    });
    expect([await failing, await cancelling]).toMatchObject([{ changed: true }, { changed: false }]);
    expect(tries).toEqual({ failing: 1, cancelling: 1 });
  });

  test("launches of one message at the same time get one batch, in any process", async () => {
    const stores = await openStores(3);
    const batches = await Promise.all(
      stores.flatMap((store, process) =>
        [1, 2].map((number) =>
          store.write(async (transaction) => {
            const known = await transaction.batchOf("parent", { messageId: "message" });
            const { id, sessionId: _session, ...task } = newTask(`launch-${process}-${number}`);
            const batchId = known ?? `batch-${process}-${number}`;
            await transaction.openLaunch({ ...task, id, owner: "instance", at: 1, batchId, machine: "" });
            return batchId;
          }),
        ),
      ),
    );
    expect(new Set(batches).size).toBe(1);
  });

  test("a work item with two tasks that end at once is in review", async () => {
    const stores = (await openStores(2)) as [Store, Store];
    const [{ board }] = stores;
    const times = { createdAt: 1, updatedAt: 1 };
    await board.addProject({ id: "project", name: "Project", ...times });
    for (let round = 0; round < 10; round++) {
      const item = `item-${round}`;
      const attempts = [`${item}-one`, `${item}-two`] as const;
      const fields = { projectId: "project", title: "Title", description: null, status: "todo" as const, ...times };
      await board.addWorkItem({ id: item, ...fields });
      for (const id of attempts) {
        const attempt = {
          id,
          workItemId: item,
          host: "scripted",
          variant: null,
          branch: "b",
          error: null,
          folder: null,
        };
        await board.addAttempt({ ...attempt, state: "ready", machine: "", ...times }, []);
        await create(stores[0], `${id}-task`, { batchId: id });
      }
      await Promise.all(attempts.map((id, number) => stores[number]?.apply(`${id}-task`, completed(5))));
      expect((await board.workItem(item))?.status).toBe("inreview");
    }
  });

  test("many commits in a short time are announced a few times", async () => {
    const [store] = (await openStores(1)) as [Store];
    const schema = `writers_${schemas - 1}`;
    const listening = await foreignClient();
    let announcements = 0;
    listening.on("notification", () => announcements++);
    const { createHash } = await import("node:crypto");
    const channel = `asyncagents_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
    await listening.query(`listen "${channel}"`);
    await Promise.all(Array.from({ length: 100 }, (_, number) => create(store, `task-${number}`)));
    await store.close();
    // Notifications come before the answer of the next query.
    await listening.query("select 1");
    expect(announcements).toBeGreaterThan(0);
    expect(announcements).toBeLessThan(50);
  });

  test("connections that are ended while all write lose nothing and repeat nothing", async () => {
    const stores = await openStores(3);
    const administrator = await foreignClient();
    let isDone = false;
    const ending = (async () => {
      for (let round = 0; round < 8 && !isDone; round++) {
        await administrator.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'asyncagents' and state <> 'idle' and pid <> pg_backend_pid()`,
        );
        await Bun.sleep(30);
      }
    })();
    const feed = follow(stores[0] as Store);
    const accepted = await writeTogether(stores, IDS, 3);
    isDone = true;
    await ending;
    await feed.stop();
    expect(accepted).toEqual({ created: IDS.length, ended: IDS.length });
    await expectConsistent(stores[0] as Store, IDS);
  });

  test("a restart of the server in the middle loses nothing and repeats nothing", async () => {
    const stores = await openStores(2);
    const feed = follow(stores[0] as Store);
    const writing = writeTogether(stores, IDS, 5);
    await server.restart();
    const accepted = await writing;
    await feed.stop();
    expect(accepted).toEqual({ created: IDS.length, ended: IDS.length });
    await expectConsistent(stores[0] as Store, IDS);
  });
});
