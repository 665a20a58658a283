/**
 * A failed call to the host does not prove that it had no effect: the session is checked before anything is reported.
 */
import { expect, test } from "bun:test";
import type { PromptInput, StartInput } from "../../../src/hosts/host.ts";
import { gate, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { ended, idle, launch, newWorld, when } from "../engine-bed.ts";

const noAnswer = () => new AsyncAgentsError("host_failed", "no answer within 30 s");

/** Resolves at the first read of a session, and counts the reads. */
function watched(host: ScriptedHost) {
  const looked = Promise.withResolvers<void>();
  return {
    looked: looked.promise,
    inspect: (sessionId: string, messageId: string) => {
      looked.resolve();
      return host.inspect(sessionId, messageId);
    },
  };
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
  let arrive: () => Promise<void> = async () => {};
  let looked: Promise<void> = Promise.resolve();
  const side = await world.side({
    host: (host) => {
      const watch = watched(host);
      looked = watch.looked;
      return {
        inspect: watch.inspect,
        async prompt(sessionId: string, input: PromptInput) {
          arrive = () => host.prompt(sessionId, input);
          throw noAnswer();
        },
      };
    },
  });
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
  let arrive: () => Promise<void> = async () => {};
  let looked: Promise<void> = Promise.resolve();
  const side = await world.side({
    host: (host) => {
      const watch = watched(host);
      looked = watch.looked;
      return {
        inspect: watch.inspect,
        async prompt(sessionId: string, input: PromptInput) {
          arrive = () => host.prompt(sessionId, input);
          throw noAnswer();
        },
        async abort(sessionId: string) {
          done.push(`aborted while ${(await side.store.task(sessionId))?.status}`);
          await host.abort(sessionId);
        },
      };
    },
  });
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

test("if nothing can be found out, the error says so, and that the session may still be running", async () => {
  const world = newWorld();
  const asked = Promise.withResolvers<void>();
  const silent = {
    prompt: () => Promise.reject(noAnswer()),
    abort: () => Promise.reject(noAnswer()),
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
