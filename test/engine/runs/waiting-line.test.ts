import { describe, expect, test } from "bun:test";
import { Slots } from "../../../src/engine/runs/slots.ts";
import { call, gate, say } from "../../../src/hosts/scripted/script.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import type { Task } from "../../../src/model/task.ts";
import { callerOf, ended, heard, launch, newWorld, notices, when } from "../engine-bed.ts";

describe("more runs than the concurrency limit", () => {
  test("wait in the queue, in order and visibly, across all engines of a process; a queued one can be cancelled", async () => {
    const world = newWorld();
    const slots = new Slots(2);
    const [one, two] = [await world.side({ slots }), await world.side({ slots })];
    const parent = world.parent();
    const launched = [];
    for (const [index, side] of [one, one, two, one, two].entries()) {
      const script = world.script(gate(`g${index}`), say(`${index}`));
      launched.push(await launch(side, parent, script, { description: `task ${index}` }));
    }
    const [first, second, third, fourth, fifth] = launched as [Task, Task, Task, Task, Task];
    await one.host.gate("g0").reachedBy(1);
    await one.host.gate("g1").reachedBy(1);
    for (const task of [third, fourth, fifth]) {
      expect(await when(one, task, ({ phase }) => phase === "queued")).toMatchObject({ status: "running" });
    }
    await one.engine.cancel(parent, fourth.id);
    expect(await one.store.task(fourth.id)).toMatchObject({ status: "cancelled" });
    expect(world.messages(fourth.sessionId)).toEqual([]);
    one.host.gate("g1").open();
    await ended(one, second);
    await two.host.gate("g2").reachedBy(1);
    await when(two, third, ({ phase }) => phase === "working");
    expect(await one.store.task(fifth.id)).toMatchObject({ phase: "queued" });
    two.host.gate("g2").open();
    await two.host.gate("g4").reachedBy(1);
    two.host.gate("g4").open();
    one.host.gate("g0").open();
    for (const task of [first, third, fifth]) {
      expect(await ended(one, task)).toMatchObject({ status: "completed" });
    }
  });

  test("an engine that stops gives its slots to the others", async () => {
    const world = newWorld();
    const slots = new Slots(1);
    const [one, two] = [await world.side({ slots }), await world.side({ slots })];
    await launch(one, world.parent(), world.script(gate("held"), say("x")));
    const waiting = await launch(two, world.parent(), world.script(say("at last")));
    await when(two, waiting, ({ phase }) => phase === "queued");
    await one.engine.stop();
    expect(await ended(two, waiting)).toMatchObject({ status: "completed", run: { result: "at last" } });
  });

  test("queued ones do not start when the process is about to exit", async () => {
    const world = newWorld();
    const prompted: string[] = [];
    const side = await world.side({
      slots: new Slots(1),
      host: (host) => ({
        prompt(sessionId, input) {
          prompted.push(sessionId);
          return host.prompt(sessionId, input);
        },
      }),
    });
    const [first, second] = [
      await launch(side, world.parent(), world.script(gate("held"), say("x"))),
      await launch(side, world.parent(), world.script(say("never"))),
    ];
    await side.host.gate("held").reachedBy(1);
    await when(side, second, ({ phase }) => phase === "queued");
    await side.engine.interrupt();
    for (const task of [first, second]) {
      expect(await side.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    }
    // What would start now starts with a timer that is older than this one.
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(prompted).toEqual([first.sessionId]);
  });

  test("a nested task does not wait for the slot of the task that waits for it", async () => {
    const world = newWorld();
    const side = await world.side({ slots: new Slots(1), settings: { maxDepth: 2 } });
    const above = await launch(side, world.parent(), world.script(gate("above"), say("x")));
    await side.host.gate("above").reachedBy(1);
    const below = await launch(side, above.sessionId, world.script(say("from below")));
    expect(await ended(side, below)).toMatchObject({ status: "completed", run: { result: "from below" } });
  });

  test("one that is taken over from a dead process has its slot", async () => {
    const world = newWorld();
    const one = await world.side();
    const orphan = await launch(one, world.parent(), world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    const busy = () => Promise.resolve(new Map([[orphan.sessionId, { state: "busy" } as const]]));
    const two = await world.side({ host: () => ({ statuses: busy }), slots: new Slots(1) });
    await one.kill();
    await two.supervisor.recover();
    const next = await launch(two, world.parent(), world.script(say("later")));
    await when(two, next, ({ phase }) => phase === "queued");
  });

  test("what a person does in the session of a queued run does not belong to that run", async () => {
    const world = newWorld();
    const { host, emit } = heard();
    const side = await world.side({ host, slots: new Slots(1), settings: { maxDepth: 2 } });
    const parent = world.parent();
    const first = await ended(side, await launch(side, parent, world.script(say("one"))));
    const other = await launch(side, parent, world.script(gate("room"), say("x")));
    await side.host.gate("room").reachedBy(1);
    const resumed = await side.engine.resume(callerOf(parent), first.id, world.script(say("two")));
    await when(side, resumed, ({ phase }) => phase === "queued");
    const { sessionId } = first;
    emit({ type: "session.asked", sessionId, requestId: "r", asks: "permission", text: "bash" });
    emit({ type: "session.answered", sessionId, requestId: "r" });
    emit({ type: "session.failed", sessionId, error: "aborted by the person", aborted: true });
    emit({ type: "session.idle", sessionId });
    side.host.gate("room").open();
    await ended(side, other);
    expect(await ended(side, resumed)).toMatchObject({ status: "completed", run: { result: "two" } });
    await notices(side, parent, "delivered", 3);
    expect(world.told(parent).join()).not.toContain("waiting");
  });

  test("a queued one is cancelled without its host, which may not respond", async () => {
    const world = newWorld();
    const side = await world.side({
      slots: new Slots(1),
      host: () => ({ abort: () => Promise.reject(new Error("no answer")) }),
    });
    const parent = world.parent();
    await launch(side, parent, world.script(gate("held"), say("x")));
    await side.host.gate("held").reachedBy(1);
    const waiting = await launch(side, parent, world.script(say("never")));
    await when(side, waiting, ({ phase }) => phase === "queued");
    await side.engine.cancel(parent, waiting.id);
    expect(await side.store.task(waiting.id)).toMatchObject({ status: "cancelled" });
  });

  test("a launch in progress while its engine stops uses no slot", async () => {
    const world = newWorld();
    const slots = new Slots(1);
    const [asked, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = await world.side({
      slots,
      host: (host) => ({
        async start(input) {
          asked.resolve();
          await made.promise;
          return host.start(input);
        },
      }),
    });
    const two = await world.side({ slots });
    const launching = launch(one, world.parent(), world.script(say("x")));
    await asked.promise;
    await one.engine.stop();
    made.resolve();
    await launching;
    const next = await launch(two, world.parent(), world.script(say("y")));
    expect(await ended(two, next)).toMatchObject({ status: "completed", run: { result: "y" } });
  });

  test("nor does one wait that was launched by a session inside a task", async () => {
    const world = newWorld();
    const { host, emit } = heard();
    const side = await world.side({ host, slots: new Slots(1), settings: { maxDepth: 2 } });
    const above = await launch(side, world.parent(), world.script(gate("above"), say("x")));
    await side.host.gate("above").reachedBy(1);
    const inner = world.parent();
    emit({ type: "session.opened", sessionId: inner, parentSessionId: above.sessionId });
    expect(await ended(side, await launch(side, inner, world.script(say("y"))))).toMatchObject({ status: "completed" });
  });
});

test("a nested task is tracked separately, even if its host reports late that its session was opened", async () => {
  const world = newWorld();
  const { host, emit } = heard();
  const side = await world.side({ host, settings: { maxDepth: 2 } });
  const above = await launch(side, world.parent(), world.script(gate("above"), say("x")));
  await side.host.gate("above").reachedBy(1);
  const below = await launch(side, above.sessionId, world.script(gate("below"), call("look"), say("from below")));
  emit({ type: "session.opened", sessionId: below.sessionId, parentSessionId: above.sessionId });
  await side.host.gate("below").reachedBy(1);
  side.host.gate("below").open();
  expect(await ended(side, below)).toMatchObject({ status: "completed", progress: { toolCalls: 1 } });
  side.host.gate("above").open();
  expect(await ended(side, above)).toMatchObject({ status: "completed", progress: { toolCalls: 0 } });
});
