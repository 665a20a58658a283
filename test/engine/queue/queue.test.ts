import { describe, expect, test } from "bun:test";
import { type DrainContext, drained } from "../../../src/daemon/drain.ts";
import type { CrashPoint } from "../../../src/engine/context.ts";
import { PERSON } from "../../../src/engine/launch.ts";
import { cancelQueued } from "../../../src/engine/queue/cancel-queued.ts";
import type { ClaimerContext, RunFolder } from "../../../src/engine/queue/claimer.ts";
import { enqueueTask, type QueueChoices } from "../../../src/engine/queue/enqueue.ts";
import { call, gate, say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import type { ClaimedRun } from "../../../src/store/queue/run-queue.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { codeOf, ended, NEVER, newWorld, notices, type Side, type World, when } from "../engine-bed.ts";
import { claimer, enqueue, newQueueId, queueContext, requestOf } from "./queue-bed.ts";

/** Claims of that side get their answer when the gate is opened. */
function holdClaims(side: Side) {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { claim } = side.store.queue;
  side.store.queue.claim = async (request) => {
    const runs = await claim(request);
    if (runs.length === 0) return runs;
    asked.resolve();
    await answer.promise;
    return runs;
  };
  return { asked: asked.promise, open: () => answer.resolve() };
}

const prompts = (world: World, sessionId: string) =>
  world.messages(sessionId).filter((message) => message.role === "user").length;
const madeSessions = (world: World) => world.sessions.all().filter(({ launchId }) => launchId?.startsWith("tsk_"));

describe("a task for any runner", () => {
  test("is accepted without a session, begun by the runner that claims it, and its parent is told once", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    await side.store.putParent({
      ...{ sessionId: parent, host: "scripted", handler: side.id, machine: "" },
      ...{ agent: null, model: null, variant: null, seenAt: 1 },
    });
    const task = await enqueue(world, side, world.script(call("bash"), say("found it")), {}, parent);
    expect(task).toMatchObject({ status: "running", phase: "queued", sessionId: "", owner: null });
    expect(task.id).toStartWith("tsk_");
    // Nobody takes it for an orphan.
    await side.supervisor.recover();
    expect(await side.store.task(task.id)).toEqual(task);
    const runner = claimer(world, side);
    const done = await ended(side, task);
    expect(done).toMatchObject({ id: task.id, status: "completed", agent: "general", run: { result: "found it" } });
    expect([done.sessionId === "", prompts(world, done.sessionId)]).toEqual([false, 1]);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told queued#0 ended"]);
    await runner.stop();
  });

  test("is left alone by a runner that does not know whether its lease goes on", async () => {
    const world = newWorld();
    const side = await world.side();
    const task = await enqueue(world, side, world.script(say("done")));
    const [lease, looked] = [{ isHeld: false }, Promise.withResolvers<void>()];
    const mayAct = () => {
      looked.resolve();
      return lease.isHeld;
    };
    const runner = claimer(world, side, { mayAct });
    await looked.promise;
    const other = { runner: "other", hosts: ["scripted"], labels: [], machine: "", limits: {}, leaseMs: 1, at: 0 };
    const [free] = await side.store.queue.claim({ ...other, count: 9 });
    expect([free?.taskId, runner.load]).toEqual([task.id, 0]);
    if (free) await side.store.queue.release(free);
    lease.isHeld = true;
    await enqueue(world, side, world.script(say("more")));
    expect((await ended(side, task)).run.result).toBe("done");
    await runner.stop();
  });

  test("waits while the runner is full, and begins when there is room", async () => {
    const world = newWorld();
    const side = await world.side();
    const offer = { id: side.id, name: "here", hosts: ["scripted"], labels: [], machine: "", max: 1, limits: {} };
    const runner = claimer(world, side, { offer });
    const first = await enqueue(world, side, world.script(gate("held"), say("one")));
    await side.host.gate("held").reachedBy(1);
    const second = await enqueue(world, side, world.script(say("two")), { priority: 1 });
    expect(runner.load).toBe(1);
    expect(await side.store.task(second.id)).toMatchObject({ phase: "queued", sessionId: "" });
    side.host.gate("held").open();
    expect((await ended(side, second)).run.result).toBe("two");
    expect((await ended(side, first)).run.result).toBe("one");
    await runner.stop();
  });

  test("is not counted out when its claim ran out on the way and its runner claims it again", async () => {
    const world = newWorld();
    const side = await world.side();
    const task = await enqueue(world, side, world.script(gate("held"), say("once")));
    const folders: PromiseWithResolvers<RunFolder>[] = [];
    const claims = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const folderOf = () => {
      const folder = Promise.withResolvers<RunFolder>();
      claims[folders.push(folder) - 1]?.resolve();
      return folder.promise;
    };
    const offer = { id: side.id, name: "here", hosts: ["scripted"], labels: [], machine: "", max: 2, limits: {} };
    const runner = claimer(world, side, { offer, folderOf, leaseMs: NEVER, pollMs: 5 });
    await claims[0]?.promise;
    world.pass(2 * NEVER);
    await claims[1]?.promise;
    // The first claim was lost meanwhile; the second one is still about to begin.
    folders[0]?.resolve({ directory: "/work", clone: null });
    await when(side, task, () => side.logged.includes("a claimed run is not this runner's any more"));
    expect(runner.load).toBe(1);
    folders[1]?.resolve({ directory: "/work", clone: null });
    await side.host.gate("held").reachedBy(1);
    expect(runner.load).toBe(1);
    side.host.gate("held").open();
    expect((await ended(side, task)).run.result).toBe("once");
    await runner.stop();
  });

  test("is cancelled at once, and a runner that was about to begin it does not", async () => {
    const world = newWorld();
    const side = await world.side();
    const waiting = await enqueue(world, side, world.script(say("never")));
    expect(await cancelQueued({ store: side.store, now: world.now }, waiting, "not needed")).toMatchObject({
      status: "cancelled",
      run: { error: "not needed" },
    });
    const claimed = await enqueue(world, side, world.script(say("never")));
    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const folderOf = async () => {
      held.resolve();
      await release.promise;
      return { directory: "/work", clone: null };
    };
    const runner = claimer(world, side, { folderOf });
    await held.promise;
    expect((await side.engine.cancelTask(claimed, "changed my mind")).task.status).toBe("cancelled");
    release.resolve();
    await eventually(side.store, async () => (runner.load === 0 ? true : null));
    expect(side.logged).toContain("a claimed run is not this runner's any more");
    for (const { id } of [waiting, claimed]) expect(await side.store.task(id)).toMatchObject({ sessionId: "" });
    expect(await codeOf(side.engine.resumeTask({ ...claimed, status: "completed" }, { prompt: "go on" }))).toBe(
      "session_gone",
    );
    await runner.stop();
  });

  test("that cannot begin ends with the reason; a host that cannot be opened leaves it to others", async () => {
    const world = newWorld();
    const side = await world.side();
    const parts = { store: side.store, now: world.now, newId: newQueueId, machine: "" };
    const folder = { directory: "/work", repository: null, bound: null };
    const request = { description: "x", prompt: "x", batch: null, host: "scripted", folder, choices: {} };
    const unknown = await enqueueTask(parts, PERSON, { ...request, agent: "nobody" });
    const first = claimer(world, side);
    expect((await ended(side, unknown)).run.error).toContain('There is no agent "nobody"');
    await first.stop();
    const unavailable = new AsyncAgentsError("host_unavailable", "no program here");
    const broken = claimer(world, side, { open: () => Promise.reject(unavailable) });
    const task = await enqueue(world, side, world.script(say("done")));
    await when(side, task, () => side.logged.some((line) => line.includes("a host could not be opened")));
    await broken.stop();
    const working = claimer(world, side);
    expect((await ended(side, task)).run.result).toBe("done");
    await working.stop();
  });

  test("whose repository a runner cannot get shows why, and is left to others for a while", async () => {
    const world = newWorld();
    const side = await world.side();
    const [bad, good] = ["git@example.com:private.git", "git@example.com:open.git"];
    const parts = { store: side.store, now: world.now, newId: newQueueId, machine: "m" };
    const queued = (remote: string) => {
      const folder = { directory: "/work", repository: { remote, commit: "c0ffee", path: "" }, bound: null };
      const request = { description: "x", batch: null, host: "scripted", agent: "", folder, choices: {} };
      return enqueueTask(parts, PERSON, { ...request, prompt: world.script(say("done")) });
    };
    const tried: string[] = [];
    const clone = { hostname: "here", remote: good, branch: "asyncagents/x" };
    const folderOf = async ({ taskId, run }: ClaimedRun) => {
      tried.push(taskId);
      if (run.remote === bad) throw new AsyncAgentsError("repo_unavailable", "no key for it");
      return { directory: "/work", clone };
    };
    const lacking = claimer(world, side, { folderOf, pollMs: 10 });
    const task = await queued(bad);
    await eventually(side.store, async () => (lacking.lacks.length > 0 && lacking.load === 0 ? true : null));
    expect(lacking.lacks).toEqual([{ kind: "repository", name: bad, reason: "no key for it" }]);
    expect(await side.store.queue.waiting([task.id])).toMatchObject([{ trouble: "here: no key for it" }]);
    const second = await queued(bad);
    const open = await queued(good);
    expect(await ended(side, open)).toMatchObject({ status: "completed", clone, run: { result: "done" } });
    world.pass(2_000);
    const later = await queued(good);
    await ended(side, later);
    expect(tried).toEqual([task.id, open.id, later.id]);
    world.pass(300_000);
    await when(side, task, () => tried.length > 3);
    expect(new Set(tried.slice(3))).toEqual(new Set([task.id, second.id]));
    await lacking.stop();
    const able = claimer(world, side);
    for (const each of [task, second]) expect((await ended(side, each)).run.result).toBe("done");
    await able.stop();
  });

  test("is refused with labels, priorities and retries that make no sense", async () => {
    const world = newWorld();
    const side = await world.side();
    const wrong: QueueChoices[] = [
      { labels: ["a b"] },
      { labels: Array.from({ length: 11 }, (_, index) => `l${index}`) },
      { priority: 0.5 },
      { retry: -1 },
    ];
    for (const choices of wrong) expect(await codeOf(enqueue(world, side, "x", choices))).toBe("invalid_input");
    expect((await side.store.tasks({})).total).toBe(0);
  });

  test("is refused with names that are too long for the indexes of the store", async () => {
    const world = newWorld();
    const side = await world.side();
    const name = "x".repeat(201);
    for (const names of [{ agent: name }, { host: name }, { model: `p/${name}` }]) {
      const queueing = enqueueTask(queueContext(world, side), PERSON, { ...requestOf("x"), ...names });
      expect(await codeOf(queueing)).toBe("invalid_input");
    }
    expect((await side.store.tasks({})).total).toBe(0);
  });
});

describe("a runner that dies", () => {
  /** Dies at that point; returns the task, and a new process with a runner. */
  async function dieAt(world: World, point: CrashPoint | "claimed", choices: QueueChoices = {}) {
    const reached = Promise.withResolvers<void>();
    const never = new Promise<never>(() => undefined);
    // It writes nothing more, and its claim runs out.
    const die = (side: Side) => {
      Object.assign(side.store, { write: () => never, apply: () => never });
      Object.assign(side.store.queue, { begin: () => never, extend: () => never });
      reached.resolve();
    };
    const one: Side = await world.side({
      reach: (at) => {
        if (at !== point) return;
        die(one);
        throw new Error("killed here");
      },
    });
    const folderOf = () => {
      die(one);
      return never;
    };
    const first = claimer(world, one, point === "claimed" ? { folderOf } : {});
    const steps = point === "prompt-sent" ? [gate("held"), say("again")] : [say("done")];
    const task = await enqueue(world, one, world.script(...steps), choices);
    await reached.promise;
    if (point === "prompt-sent") await one.host.gate("held").reachedBy(1);
    await first.stop();
    await one.kill();
    const two = await world.side();
    return { task, two };
  }

  test("after the claim: another one begins the task when the claim has run out", async () => {
    const world = newWorld();
    const { task, two } = await dieAt(world, "claimed");
    await two.supervisor.recover();
    const second = claimer(world, two, { pollMs: 10 });
    expect(await two.store.task(task.id)).toMatchObject({ phase: "queued", sessionId: "" });
    world.pass(2_000);
    expect((await ended(two, task)).run.result).toBe("done");
    await second.stop();
  });

  test("after the session: another one uses that session, which was never prompted", async () => {
    const world = newWorld();
    const { task, two } = await dieAt(world, "session-made");
    await two.supervisor.recover();
    world.pass(2_000);
    const second = claimer(world, two);
    const done = await ended(two, task);
    expect(done).toMatchObject({ status: "completed", run: { result: "done" } });
    expect(madeSessions(world).map(({ id }) => id)).toEqual([done.sessionId]);
    expect(prompts(world, done.sessionId)).toBe(1);
    await second.stop();
  });

  for (const point of ["row-written", "prompt-sent"] as const) {
    test(`after ${point}: the task ends as interrupted and is not prompted again`, async () => {
      const world = newWorld();
      const { task, two } = await dieAt(world, point);
      const second = claimer(world, two);
      await two.supervisor.recover();
      expect(await two.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
      expect(await two.store.queue.claim(anything(world))).toEqual([]);
      await second.stop();
    });

    test(`after ${point}, with a retry: the task begins again in another session`, async () => {
      const world = newWorld();
      const { task, two } = await dieAt(world, point, { retry: 1 });
      const before = await two.store.task(task.id);
      const second = claimer(world, two);
      await two.supervisor.recover();
      two.host.gate("held").open();
      const done = await ended(two, task);
      expect(done).toMatchObject({ status: "completed", owner: null });
      expect(done.sessionId).not.toBe(before?.sessionId ?? "");
      expect(prompts(world, done.sessionId)).toBe(1);
      expect(prompts(world, before?.sessionId ?? "")).toBe(point === "prompt-sent" ? 1 : 0);
      await second.stop();
    });
  }
});

function anything(world: World) {
  const offer = { runner: "x", hosts: ["scripted"], labels: [], machine: "", limits: {} };
  return { ...offer, count: 9, leaseMs: 1_000, at: world.now() };
}

/** A runner that has asked for the only task, and has no answer yet. */
async function claiming(world: World, fields: Partial<ClaimerContext> = {}) {
  const side = await world.side();
  const claims = holdClaims(side);
  const runner = claimer(world, side, fields);
  const task = await enqueue(world, side, world.script(say("done")));
  await claims.asked;
  return { side, runner, task, answer: claims.open };
}

describe("a runner that is asked to end while it claims", () => {
  test("waits for what it is about to get", async () => {
    const world = newWorld();
    const { side, runner, task, answer } = await claiming(world);
    const { monotonic, after } = world;
    const onEntries: DrainContext["runner"]["onEntries"] = (listener) => side.supervisor.changes.onEntries(listener);
    const parts = { clock: { monotonic, after }, claimer: runner, runner: { engines: () => [side.engine], onEntries } };
    const hurry = new AbortController().signal;
    const draining = drained(parts, { drainMs: NEVER, say: () => {}, hurry });
    answer();
    await draining;
    expect(await side.store.task(task.id)).toMatchObject({ status: "completed" });
    await runner.stop();
  });

  test("gives it back if it cannot wait", async () => {
    const world = newWorld();
    const { side, runner, answer } = await claiming(world, { leaseMs: NEVER });
    const stopped = runner.stop();
    answer();
    await stopped;
    // Nobody has to wait until the claim runs out.
    expect(await side.store.queue.claim({ ...anything(world), leaseMs: NEVER })).toHaveLength(1);
  });
});
