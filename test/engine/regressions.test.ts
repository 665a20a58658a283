/** Bugs found in the past, each with the state that revealed it. */
import { expect, test } from "bun:test";
import type { HostEvent } from "../../src/hosts/host.ts";
import { call, delegate, gate, say } from "../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { ended, launch, newWorld, notices, when } from "./engine-bed.ts";

test("an engine that was alone when it recovered notices that a later one died", async () => {
  const world = newWorld();
  const first = await world.side({ settings: { pollMs: 10 } });
  await first.supervisor.recover();
  const second = await world.side({ settings: { pollMs: 10 } });
  await second.supervisor.recover();
  const task = await launch(second, world.parent(), world.script(gate("held"), say("x")));
  await second.host.gate("held").reachedBy(1);
  await second.kill();
  expect((await ended(first, task)).status).toBe("error");
});

test("the same for a notice that the dead engine was delivering", async () => {
  const world = newWorld();
  const one = await world.side({ settings: { pollMs: 10 } });
  await one.supervisor.recover();
  const two = await world.side({ host: () => ({ notify: () => new Promise<void>(() => undefined) }) });
  const parent = world.parent();
  const task = await launch(one, parent, world.script(gate("held"), say("x")));
  await two.engine.handles({ sessionId: parent, messageId: "msg_p", agent: "general", model: null, variant: null });
  one.host.gate("held").open();
  await ended(one, task);
  await notices(two, parent, "sending", 1);
  await two.kill();
  await notices(one, parent, "delivered", 1);
});

test("a send that fails after its message arrived does not duplicate it", async () => {
  const world = newWorld();
  let failures = 1;
  const side = await world.side({
    host: (host) => ({
      async notify(sessionId, input) {
        await host.notify(sessionId, input);
        if (failures-- > 0) throw new AsyncAgentsError("host_failed", "no answer within 30 s");
      },
    }),
  });
  const parent = world.parent();
  await ended(side, await launch(side, parent, world.script(say("x"))));
  await notices(side, parent, "delivered", 1);
  expect(world.told(parent)).toHaveLength(1);
});

test("the pause between retries holds while other tasks end", async () => {
  const world = newWorld();
  const side = await world.side({
    host: () => ({ notify: () => Promise.reject(new AsyncAgentsError("host_failed", "down for a second")) }),
  });
  const parent = world.parent();
  const { id } = await ended(side, await launch(side, parent, world.script(say("x"))));
  const other = world.parent();
  for (let count = 0; count < 12; count++) await ended(side, await launch(side, other, world.script(say("x"))));
  expect((await side.store.lastNotice(id))?.attempts ?? "dropped").toBeLessThanOrEqual(2);
});

test("the activity of nested sessions still counts when the run has ended", async () => {
  const world = newWorld();
  const side = await world.side();
  world.sessions.script("below", [call("bash"), call("bash"), say("x")]);
  const task = await launch(side, world.parent(), world.script(delegate("below"), gate("held"), say("done")));
  await when(side, task, (now) => now.progress.toolCalls === 3);
  side.host.gate("held").open();
  expect((await ended(side, task)).progress).toMatchObject({ toolCalls: 3, tokens: { input: 500 } });
});

test("an idle that comes before the prompt call returns is checked after it has", async () => {
  const world = newWorld();
  const side = await world.side({
    host: (host) => ({
      async prompt(sessionId, input) {
        const over = Promise.withResolvers<void>();
        host.onEvent((event: HostEvent) => event.type === "session.idle" && over.resolve());
        await host.prompt(sessionId, input);
        await over.promise;
      },
    }),
  });
  expect((await ended(side, await launch(side, world.parent(), world.script(say("y"))))).status).toBe("completed");
});

test("a parent that waits for its tasks in its own turn is told about all of them", async () => {
  const world = newWorld();
  const side = await world.side();
  const parent = world.parent();
  const turn = { messageId: side.host.newMessageId(), text: world.script(gate("turn"), say("over")) };
  await side.host.prompt(parent, { ...turn, agent: "general", model: null });
  await side.host.gate("turn").reachedBy(1);
  const start = async (name: string) => {
    const task = await launch(side, parent, world.script(gate(name), say(name)), { description: name });
    return side.engine.untilTold(task, new AbortController().signal);
  };
  const waiting = [start("one"), start("two")];
  for (const name of ["one", "two"]) {
    await side.host.gate(name).reachedBy(1);
    side.host.gate(name).open();
  }
  expect((await Promise.all(waiting)).map((task) => task.status)).toEqual(["completed", "completed"]);
  expect(world.told(parent).join()).toContain("two#0");
  side.host.gate("turn").open();
});

test("an end that could not be written is written later as it was", async () => {
  const world = newWorld();
  const refusal = new AsyncAgentsError("host_failed", "no room", { details: { refused: true } });
  const side = await world.side({ host: () => ({ prompt: () => Promise.reject(refusal) }), settings: { pollMs: 10 } });
  const { apply } = side.store;
  let failures = 2;
  side.store.apply = (id, event, options) => {
    const isBroken = event.type === "run.failed" && failures-- > 0;
    return isBroken ? Promise.reject(new Error("the disk is full")) : apply(id, event, options);
  };
  expect(await ended(side, await launch(side, world.parent(), "go"))).toMatchObject({
    status: "error",
    run: { error: "no room" },
  });
  expect(failures).toBeLessThan(0);
});
