/** Engines on two machines that share a real PostgreSQL: each has its own sessions, and sees the other's lease only. */
import { expect, onTestFinished, test } from "bun:test";
import { createEngine } from "../../src/engine/create-engine.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { Supervisor } from "../../src/engine/supervisor.ts";
import { fail, gate, markerOf, say } from "../../src/hosts/scripted/script.ts";
import { type ScriptedHost, scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { ScriptedSessions } from "../../src/hosts/scripted/sessions.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import { instanceJudge } from "../../src/process/liveness.ts";
import { postgresStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { startPostgres } from "../store/postgres-server.ts";

const connectionString = await startPostgres();
const TIMES = { leaseMs: 6_500, beatMs: 200, pollMs: 200 };
const log = { info() {}, error() {} };
let machines = 0;

interface Side {
  engine: Engine;
  supervisor: Supervisor;
  host: ScriptedHost;
  sessions: ScriptedSessions;
  store: Store;
  /** The messages to parents that it sent. */
  sent: string[];
  /** While it is set, heartbeats fail: the machine is cut off, as far as its lease goes. */
  cut: { is: boolean };
}

interface SideOptions {
  /** Of another side: both are on one machine, and have the same sessions. */
  beside?: Side;
  /** Replaces members of the store. */
  change?(store: Store): Partial<Store>;
  pollMs?: number;
}

async function sideOn(schema: string, { beside, change, pollMs = TIMES.pollMs }: SideOptions = {}): Promise<Side> {
  const index = ++machines;
  const real = await postgresStore({ connectionString, schema });
  const cut = { is: false };
  const store: Store = {
    ...real,
    ...change?.(real),
    beat: (id, leaseMs) => (cut.is ? Promise.reject(new Error("cut off")) : real.beat(id, leaseMs)),
  };
  const machine = beside?.engine.instance.machine ?? `mac_${index}`;
  const isAlive = instanceJudge({ machine, renewalMs: 500 });
  const supervisor = new Supervisor({ store, log, ...systemClock, isAlive, machine, ...TIMES, pollMs });
  const sessions = beside?.sessions ?? new ScriptedSessions(index * 1_000_000);
  const host = scriptedHost({ sessions });
  const sent: string[] = [];
  const notify: ScriptedHost["notify"] = (sessionId, input) => {
    sent.push(input.messageId);
    return host.notify(sessionId, input);
  };
  const engine = createEngine({ store, host: { ...host, notify }, supervisor, machine, directory: "/work" });
  await engine.start();
  onTestFinished(async () => {
    await engine.stop();
    await store.close();
  });
  return { engine, supervisor, host, sessions, store, sent, cut };
}

async function launch({ engine, host }: Side, name: string): Promise<Task> {
  host.script(name, [gate(name), say("done")]);
  const request = { description: name, prompt: markerOf(name), agent: "general", fork: false, batch: null };
  return engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
}

/** For what the store does not show. */
async function until(look: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await look())) await Bun.sleep(20);
}

const ended = (store: Store, id: string) =>
  eventually(store, async () => {
    const task = await store.task(id);
    return task && !isLive(task.status) ? task : null;
  });

test("a run whose machine is silent is interrupted by another one when its lease is over, and its agent stopped", async () => {
  const [one, two] = [await sideOn("silent"), await sideOn("silent")];
  void two.engine.recover();
  const task = await launch(one, "a");
  const works = async () => (await one.host.statuses()).has(task.sessionId);
  await until(works);
  one.cut.is = true;
  const since = performance.now();
  const over = await ended(two.store, task.id);
  const ms = performance.now() - since;
  expect([over.status, over.run.error, over.machine]).toEqual(["error", INTERRUPTED, "mac_1"]);
  // Not before its lease was over, which was renewed a moment before; and soon after that.
  expect(ms).toBeGreaterThan(TIMES.leaseMs - 2 * TIMES.beatMs - 100);
  expect(ms).toBeLessThan(TIMES.leaseMs + 5_000);
  await until(async () => !(await works()));
  one.cut.is = false;
  // It registers again, and goes on with other runs.
  const next = await launch(one, "b");
  one.host.gate("b").open();
  expect((await ended(two.store, next.id)).run.result).toBe("done");
}, 60_000);

test("others look when a lease is over, however rarely they look otherwise", async () => {
  const [one, two] = [await sideOn("timely"), await sideOn("timely", { pollMs: 3_600_000 })];
  void two.engine.recover();
  const task = await launch(one, "e");
  one.cut.is = true;
  expect((await ended(two.store, task.id)).run.error).toBe(INTERRUPTED);
}, 60_000);

test("while nobody can write a heartbeat, a lease that is over does not count, and runs go on afterwards", async () => {
  const [one, two] = [await sideOn("mute"), await sideOn("mute")];
  const task = await launch(one, "g");
  const leases = async () => (await two.store.instances()).map(({ leaseLeft }) => leaseLeft ?? 0);
  [one.cut.is, two.cut.is] = [true, true];
  await until(async () => (await leases()).every((left) => left < 0));
  await two.engine.recover();
  expect((await leases()).length).toBe(2);
  // The one that comes back first has not seen yet whether the other one does.
  two.cut.is = false;
  await until(async () => (await leases()).some((left) => left > 0));
  await two.engine.recover();
  one.cut.is = false;
  await until(async () => (await leases()).every((left) => left > 0));
  one.host.gate("g").open();
  expect((await ended(two.store, task.id)).run.result).toBe("done");
}, 60_000);

test("a run that ended unseen is left to the processes of its machine, which can read its end", async () => {
  const [schema, pollMs] = ["beside", 3_600_000];
  const mute = ({ apply }: Store): Partial<Store> => ({
    apply: (id, event, expected) =>
      event.type === "run.completed" ? Promise.reject(new Error("cut off")) : apply(id, event, expected),
  });
  const one = await sideOn(schema, { change: mute });
  const [beside, two] = [await sideOn(schema, { beside: one, pollMs }), await sideOn(schema, { pollMs })];
  const task = await launch(one, "f");
  one.host.gate("f").open();
  await until(async () => (await one.host.inspect(task.sessionId, task.run.messageId)).answer !== null);
  // From now on it is an orphan for everybody.
  await one.engine.stop();
  await two.engine.recover();
  expect((await two.store.task(task.id))?.status).toBe("running");
  await beside.engine.recover();
  expect((await two.store.task(task.id))?.run.result).toBe("done");
}, 60_000);

test("a run that waits for its provider, and whose machine is gone, is cancelled at once", async () => {
  const [one, two] = [await sideOn("paused"), await sideOn("paused")];
  one.host.script("p", [fail("limit reached", { returnMs: 3_600_000 }), say("unheard")]);
  const request = { description: "p", prompt: markerOf("p"), agent: "general", fork: false, batch: null };
  const task = await one.engine.launch(PERSON, request, await one.engine.checkLaunch(PERSON, request));
  const stored = () => two.store.task(task.id);
  await until(async () => (await stored())?.phase === "paused");
  await one.engine.stop();
  await two.engine.recover();
  const paused = await stored();
  expect(paused?.phase).toBe("paused");
  if (paused) await two.engine.cancelTask(paused, "not needed");
  await two.engine.recover();
  expect((await stored())?.status).toBe("cancelled");
}, 60_000);

test("an instance that does not know whether its lease goes on prompts nothing until it does", async () => {
  const one = await sideOn("unknown");
  one.cut.is = true;
  const { id } = one.engine.instance;
  await until(() => one.supervisor.lease(id)?.isHeld === false);
  const task = await launch(one, "c");
  one.host.gate("c").open();
  await Bun.sleep(TIMES.beatMs);
  expect((await one.host.messages(task.sessionId, { limit: 5, before: null })).messages).toEqual([]);
  one.cut.is = false;
  expect((await ended(one.store, task.id)).run.result).toBe("done");
}, 60_000);

test("what is on another machine is not resumed here", async () => {
  const [one, two] = [await sideOn("elsewhere"), await sideOn("elsewhere")];
  const task = await launch(one, "d");
  one.host.gate("d").open();
  const done = await ended(one.store, task.id);
  const resuming = two.engine.resumeTask(done, { prompt: "go on" });
  await expect(resuming).rejects.toMatchObject({ code: "host_unavailable" });
}, 60_000);

/** As another machine does it when the lease is over. Resolves when the instance has registered again. */
async function expire({ engine, supervisor, store, cut }: Side, takeOver: () => Promise<unknown>): Promise<void> {
  const { id } = engine.instance;
  cut.is = true;
  await store.endInstance(id);
  await takeOver();
  cut.is = false;
  const isBack = async () => (await store.instances()).some((instance) => instance.id === id);
  await until(
    async () => (await isBack()) && supervisor.lease(id)?.isHeld === true && supervisor.lease(id)?.term === 1,
  );
}

test("a run that was taken over before its owner knew that it had begun is not prompted", async () => {
  const [stored, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const one = await sideOn("woken", {
    change: (real) => ({
      async write(work) {
        const result = await real.write(work);
        if ((await real.tasks({})).total === 0) return result;
        stored.resolve();
        await answered.promise;
        return result;
      },
    }),
  });
  const launching = launch(one, "e");
  await stored.promise;
  const task = (await one.store.tasks({})).tasks[0] as Task;
  await expire(one, async () => {
    const failed = { type: "run.failed", at: 2, run: 0, error: INTERRUPTED, progress: null } as const;
    const { owner, fence } = task;
    expect(await one.store.apply(task.id, failed, { owner, fence, by: "other" })).toMatchObject({ changed: true });
  });
  answered.resolve();
  await launching;
  await until(() => one.engine.liveRuns === 0);
  expect((await one.host.messages(task.sessionId, { limit: 5, before: null })).messages).toEqual([]);
}, 60_000);

test("a notice that another process sent while its sender was frozen is not sent again", async () => {
  const claimed = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let claims = 0;
  let isOver = false;
  const one = await sideOn("told", {
    change: (real) => ({
      async claimNotices(parent, claim) {
        const notices = await real.claimNotices(parent, claim);
        if (notices.length > 0) claims++;
        if (claims === 0) return notices;
        claimed.resolve();
        await answered.promise;
        // It has gone on after the first claim, and looks again.
        isOver = notices.length === 0;
        return notices;
      },
    }),
  });
  const two = await sideOn("told", { beside: one });
  const caller = { ...PERSON, sessionId: one.sessions.add({ title: "parent" }).id, messageId: "m", agent: "general" };
  one.host.script("f", [say("done")]);
  const request = { description: "f", prompt: markerOf("f"), agent: "general", fork: false, batch: null };
  const task = await one.engine.launch(caller, request, await one.engine.checkLaunch(caller, request));
  await claimed.promise;
  await expire(one, async () => {
    void two.engine.recover();
    await until(async () => (await two.store.lastNotice(task.id))?.state === "delivered");
  });
  answered.resolve();
  await until(() => isOver || one.sent.length > 0);
  expect([one.sent, two.sent.length]).toEqual([[], 1]);
}, 60_000);

test("an instance that registers again checks several runs at a time: it sends no heartbeat until it is done", async () => {
  const reads = { now: 0, most: 0 };
  const one = await sideOn("many", {
    change: (real) => ({
      async task(id) {
        reads.most = Math.max(reads.most, ++reads.now);
        await Bun.sleep(20);
        reads.now--;
        return real.task(id);
      },
    }),
  });
  for (let number = 0; number < 12; number++) await launch(one, `g${number}`);
  reads.most = 0;
  await expire(one, async () => {});
  expect(reads.most).toBeGreaterThan(4);
  expect(one.engine.liveRuns).toBe(12);
}, 60_000);
