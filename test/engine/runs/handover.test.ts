/**
 * A failed call to the host does not prove that it had no effect: the session is checked before anything is reported,
 * and a prompt that arrives when its run is being given up is stopped.
 */
import { expect, test } from "bun:test";
import type { Host, PromptInput, StartInput } from "../../../src/hosts/host.ts";
import { gate, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { ended, heard, idle, launch, newWorld, type World, when } from "../engine-bed.ts";
import { noAnswer, recorder } from "./host-calls.ts";

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

test("a prompt that waits for its budgets is not sent any more when its session is deleted meanwhile", async () => {
  const world = newWorld();
  const ears = heard();
  const prompted: string[] = [];
  const prompt = async (sessionId: string) => void prompted.push(sessionId);
  const side = await world.side({ host: (host) => ({ ...ears.host(host), prompt }) });
  const [asked, deleted, stored] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const { apply, budgets } = side.store;
  const { chains } = budgets;
  budgets.chains = async (taskIds) => {
    budgets.chains = chains;
    asked?.resolve();
    await deleted?.promise;
    return chains(taskIds);
  };
  side.store.apply = async (id, event, expected) => {
    if (event.type === "run.cancelled") await stored?.promise;
    return apply(id, event, expected);
  };
  const task = await launch(side, world.parent(), "never");
  await asked?.promise;
  ears.emit({ type: "session.deleted", sessionId: task.sessionId });
  deleted?.resolve();
  await chains([task.id]);
  await Bun.sleep(0);
  stored?.resolve();
  expect((await ended(side, task)).run.error).toContain("deleted");
  expect(prompted).toEqual([]);
});
