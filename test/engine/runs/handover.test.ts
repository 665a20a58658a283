/**
 * A failed call to the host does not prove that it had no effect: the session is checked before anything is reported,
 * and a prompt that arrives when its run is being given up is stopped.
 */
import { expect, test } from "bun:test";
import { Slots } from "../../../src/engine/runs/slots.ts";
import type { Host, PromptInput, StartInput } from "../../../src/hosts/host.ts";
import { gate, type ScriptedScript, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { ended, heard, idle, launch, newWorld, polls, type World, when } from "../engine-bed.ts";

const noAnswer = () => new AsyncAgentsError("host_failed", "no answer within 30 s");

/** Calls in their order, and a way to wait until there are so many. */
function recorder() {
  const calls: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    calls,
    add(call: string): void {
      calls.push(call);
      for (const { count, resolve } of waiting) if (calls.length >= count) resolve();
    },
    reached(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (calls.length >= count) resolve();
      else waiting.push({ count, resolve });
      return promise;
    },
  };
}

/** A side whose host receives prompts late: the call fails, and the prompt arrives when the test says so. */
async function lateSide(world: World, members: (host: ScriptedHost) => Partial<Host> = () => ({})) {
  const looked = Promise.withResolvers<void>();
  let deliver: () => Promise<void> = async () => {};
  const side = await world.side({
    host: (host) => ({
      inspect(sessionId: string, messageId: string) {
        looked.resolve();
        return host.inspect(sessionId, messageId);
      },
      async prompt(sessionId: string, input: PromptInput) {
        deliver = () => host.prompt(sessionId, input);
        throw noAnswer();
      },
      ...members(host),
    }),
  });
  /** `looked` resolves at the first read of the session. */
  return { side, looked: looked.promise, arrive: () => deliver() };
}

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

test("a prompt whose answer was lost runs like any other", async () => {
  const world = newWorld();
  const side = await world.side({
    host: (host) => ({
      async prompt(sessionId: string, input: PromptInput) {
        await host.prompt(sessionId, input);
        throw noAnswer();
      },
    }),
  });
  const task = await launch(side, world.parent(), world.script(gate("held"), say("all the same")));
  await side.host.gate("held").reachedBy(1);
  await when(side, task, ({ phase }) => phase === "working");
  side.host.gate("held").open();
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "all the same" } });
});

test("a prompt that arrives only after its call has failed runs too", async () => {
  const world = newWorld();
  const { side, looked, arrive } = await lateSide(world);
  const task = await launch(side, world.parent(), world.script(say("late")));
  await looked;
  expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "starting" });
  await arrive();
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "late" } });
});

test("if the session is gone when it is checked, the run ends immediately and says so", async () => {
  const world = newWorld();
  const side = await world.side({
    host: () => ({
      prompt: () => Promise.reject(noAnswer()),
      inspect: () => Promise.reject(new AsyncAgentsError("session_gone", "there is no such session")),
    }),
  });
  const task = await launch(side, world.parent(), "lost");
  expect(await ended(side, task)).toMatchObject({ status: "error", run: { error: "its session was deleted" } });
});

test("a prompt that does not arrive ends as failed after a minute, with its session stopped; if it arrives later, it is stopped too", async () => {
  const world = newWorld();
  const done: string[] = [];
  const { side, looked, arrive } = await lateSide(world, (host) => ({
    async abort(sessionId: string) {
      done.push(`aborted while ${(await side.store.task(sessionId))?.status}`);
      await host.abort(sessionId);
    },
  }));
  const task = await launch(side, world.parent(), world.script(gate("held"), say("unheard")));
  await looked;
  world.pass(60_000);
  const { status, run } = await ended(side, task);
  expect([status, done]).toEqual(["error", ["aborted while running"]]);
  expect(run.error).toContain("did not arrive in its session: no answer within 30 s");
  expect(run.error).toContain("the session was stopped");
  const stopped = idle(side, task.sessionId);
  await arrive();
  await stopped;
  expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
});

test("a prompt that arrives while its session is being given up is stopped", async () => {
  const world = newWorld();
  const ears = heard();
  const door = Promise.withResolvers<void>();
  const aborts = recorder();
  const { side, looked } = await lateSide(world, (host) => ({
    ...ears.host(host),
    abort: async (sessionId) => {
      aborts.add(sessionId);
      await door.promise;
    },
  }));
  const task = await launch(side, world.parent(), world.script(say("x")));
  await looked;
  world.pass(61_000);
  await aborts.reached(1);
  ears.emit({ type: "message.added", sessionId: task.sessionId, messageId: task.run.messageId });
  door.resolve();
  await ended(side, task);
  await aborts.reached(2);
  expect(aborts.calls).toEqual([task.sessionId, task.sessionId]);
});

test("a prompt that was given up and arrives beside the next run is stopped when the agent takes it up", async () => {
  const world = newWorld();
  const ears = heard();
  const aborts = recorder();
  let isFirst = true;
  const { side, looked } = await lateSide(world, (host) => ({
    ...ears.host(host),
    prompt: async (sessionId, input) => {
      if (!isFirst) return host.prompt(sessionId, input);
      isFirst = false;
      throw noAnswer();
    },
    abort: async (sessionId) => aborts.add(sessionId),
  }));
  const task = await launch(side, world.parent(), world.script(say("x")));
  await looked;
  world.pass(61_000);
  const failed = await ended(side, task);
  await side.engine.resumeTask(failed, { prompt: world.script(gate("held"), say("second")), allow: ["error"] });
  await side.host.gate("held").reachedBy(1);
  const { sessionId, run } = task;
  ears.emit({ type: "message.added", sessionId, messageId: run.messageId });
  side.host.gate("held").open();
  const second = await when(side, task, ({ status }) => status === "completed");
  expect(second.run.result).toBe("second");
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
  // Time to begin too early.
  await Bun.sleep(100);
  expect(world.messages(task.sessionId).filter(({ role }) => role === "user")).toHaveLength(1);
  door.resolve();
  await cancelling;
  const second = await when(side, task, ({ status }) => status !== "resumed");
  expect([second.status, second.run.result]).toEqual(["completed", "second"]);
});

test("an end that becomes known after the next run began does not make that run deaf to sessions below it", async () => {
  const world = newWorld();
  const ears = heard();
  const side = await world.side({ host: ears.host });
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
  for (let turn = 0; turn < 50; turn++) await Bun.sleep(0);
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

test("a prompt that is accepted while the deletion of its session is written is stopped", async () => {
  const world = newWorld();
  const ears = heard();
  const prompting = Promise.withResolvers<void>();
  const accepted = Promise.withResolvers<void>();
  const acceptance = Promise.withResolvers<void>();
  const { calls, add, reached } = recorder();
  const side = await world.side({
    reach: (point) => {
      if (point === "prompt-sent") acceptance.resolve();
    },
    host: (host) => ({
      ...ears.host(host),
      prompt: async () => {
        prompting.resolve();
        await accepted.promise;
        add("accepted");
      },
      abort: async () => add("abort"),
    }),
  });
  const task = await launch(side, world.parent(), world.script(say("x")));
  await prompting.promise;
  const { apply } = side.store;
  const writing = Promise.withResolvers<void>();
  const door = Promise.withResolvers<void>();
  side.store.apply = async (id, event, ...rest) => {
    if (event.type === "run.cancelled") {
      writing.resolve();
      await door.promise;
    }
    return apply(id, event, ...rest);
  };
  ears.emit({ type: "session.deleted", sessionId: task.sessionId });
  await writing.promise;
  accepted.resolve();
  await acceptance.promise;
  door.resolve();
  await ended(side, task);
  await reached(3);
  expect(calls).toEqual(["abort", "accepted", "abort"]);
});

test("if nothing can be found out, the error says so, and stopping the session is tried again", async () => {
  const world = newWorld();
  const aborts = recorder();
  const asked = Promise.withResolvers<void>();
  const silent = {
    prompt: () => Promise.reject(noAnswer()),
    abort: () => {
      aborts.add("tried");
      return Promise.reject(noAnswer());
    },
    inspect: () => {
      asked.resolve();
      return Promise.reject(noAnswer());
    },
  };
  const side = await world.side({ host: () => silent });
  const task = await launch(side, world.parent(), "go");
  await asked.promise;
  world.pass(60_000);
  const { run } = await ended(side, task);
  expect(run.error).toContain("it is not known whether the prompt arrived");
  expect(run.error).toContain("could not be stopped either");
  await aborts.reached(2);
});

test("a cancel that is stopping when the prompt arrives leaves nothing running", async () => {
  const world = newWorld();
  const [sent, door, aborting] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  let aborts = 0;
  const side = await world.side({
    host: (host) => ({
      async prompt(sessionId: string, input: PromptInput) {
        sent?.resolve();
        await door?.promise;
        await host.prompt(sessionId, input);
      },
      async abort(sessionId: string) {
        const isFirst = ++aborts === 1;
        await host.abort(sessionId);
        if (!isFirst) return aborting?.resolve();
        door?.resolve();
        await aborting?.promise;
      },
    }),
  });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
  await sent?.promise;
  expect((await side.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
  expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
});

test("a session whose creation was not confirmed is found by its launch", async () => {
  const world = newWorld();
  const side = await world.side({
    host: (host) => ({
      async start(input: StartInput) {
        await host.start(input);
        throw noAnswer();
      },
    }),
  });
  const task = await launch(side, world.parent(), world.script(say("found")));
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "found" } });
  expect(await side.store.launches()).toEqual([]);
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
