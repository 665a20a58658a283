/**
 * What an earlier run left at work is stopped, and not mistaken for the next run of its session: a prompt that was
 * given up and arrives late, an agent whose run another process ended, a stop that hangs.
 */
import { expect, test } from "bun:test";
import { Slots } from "../../../src/engine/runs/slots.ts";
import type { Host, PromptInput } from "../../../src/hosts/host.ts";
import { gate, type ScriptedScript, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { ended, heard, launch, newWorld, polls, type World, when } from "../engine-bed.ts";
import { noAnswer, recorder } from "./host-calls.ts";

/** A side with one slot and a task whose first prompt was given up, and can still arrive. */
async function givenUp(world: World, answer: ScriptedScript, hear: (host: ScriptedHost) => Partial<Host> = () => ({})) {
  const looked = Promise.withResolvers<void>();
  const aborts = recorder();
  let arrive: (() => Promise<void>) | null = null;
  const side = await world.side({
    slots: new Slots(1),
    host: (host) => ({
      ...hear(host),
      inspect: (sessionId, messageId) => {
        looked.resolve();
        return host.inspect(sessionId, messageId);
      },
      prompt: async (sessionId, input) => {
        if (arrive) return host.prompt(sessionId, input);
        arrive = () => host.prompt(sessionId, input);
        throw noAnswer();
      },
      abort: async (sessionId) => {
        aborts.add(sessionId);
        await host.abort(sessionId);
      },
    }),
  });
  const launched = await launch(side, world.parent(), world.script(...answer));
  await looked.promise;
  world.pass(61_000);
  return { side, aborts, task: await ended(side, launched), arrive: async () => arrive?.() };
}

/** The event of a process that thinks the one which drives the first run is dead. */
function takenForDead(world: World) {
  return { type: "run.failed", at: world.now(), run: 0, error: "taken for dead", progress: null } as const;
}

test("a prompt that was given up and arrives beside the next run is stopped when the agent takes it up", async () => {
  const world = newWorld();
  const ears = heard();
  const { side, aborts, task } = await givenUp(world, [say("x")], ears.host);
  await side.engine.resumeTask(task, { prompt: world.script(gate("held"), say("second")), allow: ["error"] });
  await side.host.gate("held").reachedBy(1);
  const { sessionId, run } = task;
  ears.emit({ type: "message.added", sessionId, messageId: run.messageId });
  side.host.gate("held").open();
  const second = await when(side, task, ({ status }) => status === "completed");
  expect([second.run.result, aborts.calls.length]).toEqual(["second", 1]);
  ears.emit({ type: "message.taken", sessionId: "ses_stranger", messageId: run.messageId });
  expect(aborts.calls).toHaveLength(1);
  ears.emit({ type: "message.taken", sessionId, messageId: run.messageId });
  await aborts.reached(2);
});

test("a prompt that was taken up beside the next run is forgotten: a later report of it stops nobody", async () => {
  const world = newWorld();
  const ears = heard();
  const { side, aborts, task, arrive } = await givenUp(world, [say("given up")], ears.host);
  await side.engine.resumeTask(task, { prompt: world.script(gate("held"), say("second")), allow: ["error"] });
  await side.host.gate("held").reachedBy(1);
  await arrive();
  side.host.gate("held").open();
  const { sessionId, run } = task;
  await when(side, task, ({ status }) => status === "completed");
  const answers = world.messages(sessionId).filter(({ role }) => role === "assistant");
  expect([answers.length, aborts.calls.length]).toEqual([2, 1]);
  const own = { messageId: "msg_own", text: world.script(gate("own"), say("mine")), agent: "general", model: null };
  await side.host.prompt(sessionId, own);
  await side.host.gate("own").reachedBy(1);
  ears.emit({ type: "message.added", sessionId, messageId: run.messageId });
  expect(aborts.calls).toHaveLength(1);
});

test("a prompt that was given up and arrives while the next run waits for a slot is stopped", async () => {
  const world = newWorld();
  const { side, aborts, task, arrive } = await givenUp(world, [gate("late"), say("given up")]);
  await launch(side, world.parent(), world.script(gate("other"), say("other")));
  await side.host.gate("other").reachedBy(1);
  await side.engine.resumeTask(task, { prompt: world.script(say("second")), allow: ["error"] });
  await when(side, task, ({ phase }) => phase === "queued");
  await arrive();
  await aborts.reached(2);
});

test.each(["cancelled here", "ended by another process"])(
  "a prompt that was out when its run was %s is stopped when the agent takes it up after the next run",
  async (how) => {
    const world = newWorld();
    const ears = heard();
    const aborts = recorder();
    const sent = Promise.withResolvers<void>();
    const door = Promise.withResolvers<void>();
    let isFirst = true;
    const side = await world.side({
      host: (host) => ({
        ...ears.host(host),
        prompt: async (sessionId, input) => {
          if (!isFirst) return host.prompt(sessionId, input);
          isFirst = false;
          sent.resolve();
          await door.promise;
        },
        abort: async (sessionId) => aborts.add(sessionId),
      }),
    });
    side.store.feed = async () => [];
    const parent = world.parent();
    const task = await launch(side, parent, world.script(say("x")));
    await sent.promise;
    if (how === "cancelled here") await side.engine.cancel(parent, task.id);
    else await side.store.apply(task.id, takenForDead(world));
    const over = (await side.store.task(task.id)) ?? task;
    const prompt = world.script(gate("held"), say("second"));
    await side.engine.resumeTask(over, { prompt, allow: ["error", "cancelled"] });
    await side.host.gate("held").reachedBy(1);
    const { sessionId, run } = task;
    ears.emit({ type: "message.added", sessionId, messageId: run.messageId });
    door.resolve();
    side.host.gate("held").open();
    await when(side, task, ({ status }) => status === "completed");
    expect(aborts.calls).toHaveLength(1);
    ears.emit({ type: "message.taken", sessionId, messageId: run.messageId });
    await aborts.reached(2);
  },
);

test("the stop of a cancelled run that another process ended does not hit the next run", async () => {
  const world = newWorld();
  const door = Promise.withResolvers<void>();
  const aborts = recorder();
  const side = await world.side({
    settings: { pollMs: 5 },
    host: (host) => ({
      abort: async (sessionId) => {
        aborts.add(sessionId);
        if (aborts.calls.length === 1) await door.promise;
        await host.abort(sessionId);
      },
    }),
  });
  side.store.feed = async () => [];
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
  await side.host.gate("held").reachedBy(1);
  const cancelling = side.engine.cancel(parent, task.id);
  await aborts.reached(1);
  const { task: over } = await side.store.apply(task.id, takenForDead(world));
  await side.engine.resumeTask(over ?? task, { prompt: world.script(say("second")), allow: ["error"] });
  await aborts.reached(2);
  // Long enough for a prompt that does not wait.
  await polls(side, 20);
  expect(world.messages(task.sessionId).filter(({ role }) => role === "user")).toHaveLength(1);
  door.resolve();
  await cancelling;
  const second = await when(side, task, ({ status }) => status !== "resumed");
  expect([second.status, second.run.result]).toEqual(["completed", "second"]);
});

test("an end that becomes known after the next run began does not make that run deaf to sessions below it", async () => {
  const world = newWorld();
  const ears = heard();
  const side = await world.side({ settings: { pollMs: 5 }, host: ears.host });
  const { apply } = side.store;
  const door = Promise.withResolvers<void>();
  side.store.apply = async (id, event, ...rest) => {
    const outcome = await apply(id, event, ...rest);
    if (event.type === "run.completed" && event.run === 0) await door.promise;
    return outcome;
  };
  const task = await launch(side, world.parent(), world.script(say("first")));
  await side.engine.resumeTask(await ended(side, task), { prompt: world.script(gate("two"), say("second")) });
  await side.host.gate("two").reachedBy(1);
  await when(side, task, ({ phase }) => phase === "working");
  ears.emit({ type: "session.opened", sessionId: "ses_below", parentSessionId: task.sessionId });
  door.resolve();
  // Long enough for that end to be known.
  await polls(side, 2);
  ears.emit({ type: "session.asked", sessionId: "ses_below", requestId: "r", asks: "question", text: "?" });
  await when(side, task, ({ phase }) => phase === "waiting");
});

test("an agent whose run another process ended is stopped before the next run is prompted", async () => {
  const world = newWorld();
  const calls = recorder();
  const side = await world.side({
    host: (host) => ({
      prompt: async (sessionId, input) => {
        calls.add("prompted");
        await host.prompt(sessionId, input);
      },
      abort: async (sessionId) => {
        await host.abort(sessionId);
        calls.add("stopped");
      },
    }),
  });
  // As if this process had been frozen: it has not heard of it yet.
  side.store.feed = async () => [];
  const task = await launch(side, world.parent(), world.script(gate("held"), say("unheard")));
  await side.host.gate("held").reachedBy(1);
  const { task: ending } = await side.store.apply(task.id, takenForDead(world));
  await side.engine.resumeTask(ending ?? task, { prompt: world.script(say("second")), allow: ["error"] });
  const second = await when(side, task, ({ status }) => status === "completed");
  expect(second.run).toMatchObject({ number: 1, result: "second" });
  expect(calls.calls).toEqual(["prompted", "stopped", "prompted"]);
});

test("a run that waits behind a stop is not prompted by an engine that was stopped meanwhile", async () => {
  const world = newWorld();
  const [door, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const prompts = recorder();
  const side = await world.side({
    settings: { pollMs: 5 },
    host: (host) => ({
      async abort() {
        await door.promise;
        aborted.resolve();
      },
      prompt(sessionId: string, input: PromptInput) {
        prompts.add(sessionId);
        return host.prompt(sessionId, input);
      },
    }),
  });
  side.store.feed = async () => [];
  const task = await launch(side, world.parent(), world.script(gate("held"), say("unheard")));
  await side.host.gate("held").reachedBy(1);
  const { task: over } = await side.store.apply(task.id, takenForDead(world));
  await side.engine.resumeTask(over ?? task, { prompt: world.script(say("never")), allow: ["error"] });
  await polls(side, 10);
  await side.engine.stop();
  door.resolve();
  await aborted.promise;
  // The run was told of it, if at all, in the microtasks after that.
  await new Promise(setImmediate);
  expect(prompts.calls).toHaveLength(1);
});

test("a run that begins while what was left of the one before is being stopped is not stopped with it", async () => {
  const world = newWorld();
  const calls = recorder();
  const door = Promise.withResolvers<void>();
  const one = await world.side({
    settings: { pollMs: 5 },
    host: (host) => ({
      async abort(sessionId: string) {
        calls.add("a stop begins");
        await door.promise;
        await host.abort(sessionId);
        calls.add("and ends");
      },
      prompt(sessionId: string, input: PromptInput) {
        calls.add("a prompt");
        return host.prompt(sessionId, input);
      },
    }),
  });
  await launch(one, world.parent(), world.script(gate("other"), say("x")));
  const task = await launch(one, world.parent(), world.script(gate("held"), say("never")));
  await one.host.gate("held").reachedBy(1);
  await when(one, task, ({ phase }) => phase === "working");
  // Another process thought that this one was dead.
  const failed = { type: "run.failed", at: world.now(), run: 0, error: "interrupted: gone", progress: null } as const;
  await one.store.apply(task.id, failed);
  await calls.reached(3);
  const error = await ended(one, task);
  const resumed = await one.engine.resumeTask(error, { prompt: world.script(say("done")), allow: ["error"] });
  // Long enough for a prompt that does not wait.
  await polls(one, 20);
  door.resolve();
  await calls.reached(5);
  expect(calls.calls).toEqual(["a prompt", "a prompt", "a stop begins", "and ends", "a prompt"]);
  expect((await ended(one, resumed)).run).toMatchObject({ number: 1, result: "done" });
});
