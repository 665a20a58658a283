import { describe, expect, test } from "bun:test";
import type { CrashPoint } from "../../../src/engine/context.ts";
import { PERSON } from "../../../src/engine/launch.ts";
import { cancelQueued } from "../../../src/engine/queue/cancel-queued.ts";
import { Claimer, type ClaimerContext } from "../../../src/engine/queue/claimer.ts";
import { enqueueTask, type QueueChoices } from "../../../src/engine/queue/enqueue.ts";
import { call, gate, say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import type { Task } from "../../../src/model/task.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { callerOf, codeOf, ended, NEVER, newWorld, notices, type Side, type World, when } from "../engine-bed.ts";

let ids = 0;

function enqueue(world: World, side: Side, prompt: string, choices: QueueChoices = {}, parent = ""): Promise<Task> {
  const context = { store: side.store, now: world.now, newId: (prefix: string) => `${prefix}_${++ids}`, machine: "" };
  const folder = { directory: "/work", source: null };
  const request = { description: "queued", prompt, batch: null, host: "scripted", agent: "", folder, choices };
  return enqueueTask(context, parent === "" ? PERSON : callerOf(parent), request);
}

/** A runner in the process of that side. */
function claimer(world: World, side: Side, fields: Partial<ClaimerContext> = {}): Claimer {
  const { now, monotonic, after } = world;
  const offer = { id: side.id, hosts: ["scripted"], labels: [], machine: "", max: 4, limits: {} };
  const made = new Claimer({
    now,
    monotonic,
    after,
    store: side.store,
    log: { info: (line) => side.logged.push(line), error: (line) => side.logged.push(line) },
    offer,
    engines: () => [side.engine],
    open: async () => side.engine,
    onEntries: (listener) => side.supervisor.changes.onEntries(listener),
    onEnded: (listener) => side.engine.onEnded(listener),
    folderOf: async ({ task }) => task.directory,
    leaseMs: 1_000,
    pollMs: NEVER,
    ...fields,
  });
  made.start();
  return made;
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

  test("waits while the runner is full, and begins when there is room", async () => {
    const world = newWorld();
    const side = await world.side();
    const offer = { id: side.id, hosts: ["scripted"], labels: [], machine: "", max: 1, limits: {} };
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
      return "/work";
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
    const parts = { store: side.store, now: world.now, newId: (prefix: string) => `${prefix}_${++ids}`, machine: "" };
    const folder = { directory: "/work", source: null };
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
