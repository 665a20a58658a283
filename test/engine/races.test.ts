/** Races around the end of an engine, and reads that fail once. */
import { expect, test } from "bun:test";
import { Slots } from "../../src/engine/runs/slots.ts";
import { gate, say } from "../../src/hosts/scripted/script.ts";
import { ended, heard, idle, launch, NEVER, newWorld, notices, polls, when } from "./engine-bed.ts";

test("a stopped engine sends no prompt of a run that waited for its slot", async () => {
  const world = newWorld();
  const prompted: string[] = [];
  const slots = new Slots(1);
  const other = await world.side({ slots });
  const side = await world.side({
    slots,
    host: (host) => ({
      prompt: (sessionId, input) => {
        prompted.push(sessionId);
        return host.prompt(sessionId, input);
      },
    }),
  });
  const first = await launch(side, world.parent(), world.script(gate("held"), say("x")));
  await side.host.gate("held").reachedBy(1);
  const second = await launch(side, world.parent(), world.script(say("unheard")));
  await when(side, second, ({ phase }) => phase === "queued");
  await side.engine.stop();
  // The only slot is free for others, whose runs would begin after the one that waited.
  await ended(other, await launch(other, world.parent(), world.script(say("next"))));
  expect(prompted).toEqual([first.sessionId]);
});

test("what an engine leaves when it stops is recovered by another engine of its process", async () => {
  const world = newWorld();
  const one = await world.side({ directory: "/one", settings: { pollMs: 10 } });
  const two = await world.side({ directory: "/two", supervisor: one.supervisor });
  expect(await one.supervisor.recover()).toBe(true);
  const task = await launch(two, world.parent(), world.script(gate("held"), say("x")));
  await two.host.gate("held").reachedBy(1);
  two.host.crash();
  await two.engine.stop();
  expect((await ended(one, task)).status).toBe("error");
});

test("the death of a host before the prompt says nothing about the run", async () => {
  const world = newWorld();
  const ears = heard();
  const side = await world.side({ slots: new Slots(1), host: ears.host, settings: { pollMs: 5 } });
  const first = await launch(side, world.parent(), world.script(gate("held"), say("x")));
  await side.host.gate("held").reachedBy(1);
  const { prompt } = side.host;
  const door = Promise.withResolvers<void>();
  // Takes the prompt some time before it works on it.
  side.host.prompt = async (...given) => void door.promise.then(() => prompt(...given));
  const second = await launch(side, world.parent(), world.script(say("done")));
  await when(side, second, ({ phase }) => phase === "queued");
  ears.emit({ type: "host.ended", reason: "interrupted: the program died" });
  await ended(side, first);
  await when(side, second, ({ phase }) => phase !== "queued");
  await polls(side, 3);
  door.resolve();
  const after = await ended(side, second);
  expect([after.status, after.run.error]).toEqual(["completed", null]);
});

test("a cancel is obeyed though the feed could not be read for a moment", async () => {
  const world = newWorld();
  const one = await world.side();
  const two = await world.side();
  const task = await launch(one, world.parent(), world.script(gate("held"), say("x")));
  await one.host.gate("held").reachedBy(1);
  const { feed } = one.store;
  let failures = 0;
  one.store.feed = (...given) => (++failures > 2 ? feed(...given) : Promise.reject(new Error("database is locked")));
  const { task: after, asked } = await two.engine.cancelTask(task, "no longer needed");
  expect([failures > 2, after.status, asked]).toEqual([true, "cancelled", false]);
});

test("a cancel is obeyed though its task could not be read when the wish was heard", async () => {
  const world = newWorld();
  const one = await world.side({ settings: { pollMs: 5 } });
  const two = await world.side();
  const task = await launch(one, world.parent(), world.script(gate("held"), say("x")));
  await one.host.gate("held").reachedBy(1);
  await when(one, task, ({ phase }) => phase === "working");
  const { task: read } = one.store;
  let failures = 0;
  one.store.task = (id) => (++failures > 2 ? read(id) : Promise.reject(new Error("disk I/O error")));
  const { task: after, asked } = await two.engine.cancelTask(task, "no longer needed");
  expect([failures > 2, after.status, asked]).toEqual([true, "cancelled", false]);
});

test("an engine that was forgotten checks its tasks though the first check failed", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 20 });
  const task = await launch(one, world.parent(), world.script(gate("held"), say("x")));
  await one.host.gate("held").reachedBy(1);
  // A write about the run would be refused, and show that it is lost, too.
  await when(one, task, ({ phase }) => phase === "working");
  const two = await world.side();
  // The feed of the first says nothing: it slept.
  one.supervisor.changes.stop();
  const real = one.store.task;
  let reads = 0;
  one.store.task = (id) => (reads++ === 0 ? Promise.reject(new Error("database is locked")) : real(id));
  const stopped = idle(one, task.sessionId);
  await two.store.apply(task.id, { type: "task.adopted", at: world.now(), owner: two.id });
  await two.store.endInstance(one.id);
  await stopped;
  expect(one.engine.liveRuns).toBe(0);
  expect(reads).toBeGreaterThan(1);
});

test("a process that opens hosts leaves parents alone though a task of an unknown host is orphaned", async () => {
  const world = newWorld();
  const plugin = await world.side({ host: () => ({ notify: () => Promise.reject(new Error("not now")) }) });
  const parent = world.parent();
  const task = await launch(plugin, parent, world.script(say("done")));
  await ended(plugin, task);
  const other = await world.side({ host: () => ({ kind: "unknown" }) });
  const orphan = await launch(other, world.parent(), world.script(gate("held"), say("x")));
  await other.host.gate("held").reachedBy(1);
  await plugin.kill();
  await other.kill();
  const opener = { has: (host: string) => host === "scripted", open: () => Promise.reject(new Error("none")) };
  const daemon = await world.side({ opener });
  expect(await daemon.supervisor.recover()).toBe(true);
  // Its own notice is delivered, so one that it had been told of before would have been delivered as well.
  const own = world.parent();
  await launch(daemon, own, world.script(say("done")));
  await notices(daemon, own, "delivered", 1);
  expect((await daemon.store.task(orphan.id))?.status).toBe("running");
  expect(world.told(parent)).toEqual([]);
});

test("what an engine leaves is recovered though it could not unregister", async () => {
  const world = newWorld();
  const one = await world.side({ directory: "/one", settings: { pollMs: 10 } });
  const two = await world.side({ directory: "/two", supervisor: one.supervisor });
  const task = await launch(two, world.parent(), world.script(gate("held"), say("x")));
  await two.host.gate("held").reachedBy(1);
  const { endInstance } = one.store;
  let tries = 0;
  one.store.endInstance = (id) => (tries++ === 0 ? Promise.reject(new Error("database is locked")) : endInstance(id));
  two.host.crash();
  await two.engine.stop().catch(() => {});
  expect((await ended(one, task)).status).toBe("error");
  await one.supervisor.idle();
  expect((await one.store.instances()).map(({ id }) => id)).toEqual([one.id]);
});

test("one engine whose host hangs does not keep the others from recovering", async () => {
  const world = newWorld();
  const dead = await world.side({ directory: "/one" });
  await launch(dead, world.parent(), world.script(gate("held"), say("x")));
  await dead.host.gate("held").reachedBy(1);
  const second = await world.side({ directory: "/two" });
  const other = await launch(second, world.parent(), world.script(gate("held2"), say("x")));
  await second.host.gate("held2").reachedBy(1);
  await second.kill();
  await dead.kill();
  const hanging = () => ({ statuses: () => new Promise<never>(() => {}) });
  const one = await world.side({ directory: "/one", host: hanging });
  const two = await world.side({ directory: "/two", supervisor: one.supervisor });
  void one.supervisor.recover();
  expect((await ended(two, other)).status).toBe("error");
});

test("a launch that another process recovered meanwhile says so, and is not called a fault", async () => {
  const world = newWorld();
  const made = Promise.withResolvers<void>();
  const door = Promise.withResolvers<void>();
  const slow = await world.side({
    host: (host) => ({
      start: async (input) => {
        const sessionId = await host.start(input);
        made.resolve();
        await door.promise;
        return sessionId;
      },
    }),
  });
  const other = await world.side();
  const refused = launch(slow, world.parent(), world.script(say("never"))).catch((thrown: unknown) => thrown);
  await made.promise;
  world.holdForDead(slow.id);
  expect(await other.supervisor.recover()).toBe(true);
  door.resolve();
  expect(await refused).toMatchObject({ code: "task_not_live" });
  expect((await other.store.tasks({})).tasks).toMatchObject([{ status: "error" }]);
});

test("a process that exits ends a run as its session shows, though it has not heard of the end", async () => {
  const world = newWorld();
  const side = await world.side({ settings: { pollMs: NEVER }, host: () => ({ onEvent: () => () => {} }) });
  const task = await launch(side, world.parent(), world.script(say("done")));
  const isAnswered = () => world.sessions.get(task.sessionId).messages.some(({ role }) => role === "assistant");
  while (!isAnswered() || (await side.host.statuses()).size > 0) await new Promise(setImmediate);
  await side.engine.interrupt();
  expect((await side.store.task(task.id))?.run).toMatchObject({ outcome: "completed", result: "done" });
});
