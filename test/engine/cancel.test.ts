import { describe, expect, test } from "bun:test";
import type { PromptInput } from "../../src/hosts/host.ts";
import { gate, say } from "../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { CANCELLED } from "../../src/model/evidence.ts";
import type { Task } from "../../src/model/task.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { codeOf, ended, idle, launch, newWorld, notices, when } from "./engine-bed.ts";

describe("cancel", () => {
  test("ends the host's work and the task, and the parent is told once [AT-02.3, BT-02.3]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    const { task: after, asked } = await side.engine.cancel(parent, task.id);
    expect([after.status, after.run.error, asked]).toEqual(["cancelled", "cancelled by its parent", false]);
    expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
    expect((await side.host.inspect(task.sessionId, task.run.messageId)).error?.aborted).toBe(true);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
    expect(await codeOf(side.engine.cancel(parent, task.id))).toBe("task_not_live");
  });

  test("a cancel request for another process's task is executed there", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    const { task: after, asked } = await two.engine.cancel(parent, task.id);
    expect([after.status, asked]).toEqual(["cancelled", false]);
    expect((await one.host.statuses()).has(task.sessionId)).toBe(false);
    const events = (await one.store.feed(0)).map(({ event }) => event.type);
    expect(events.filter((type) => type === "run.cancelled" || type === "cancel.requested")).toEqual([
      "cancel.requested",
      "run.cancelled",
    ]);
    await notices(one, parent, "delivered", 1);
    expect(world.told(parent)).toHaveLength(1);
  });

  test("a cancel of a run that has ended does not stop the next one, whoever drives it", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(say("first")));
    await one.engine.resumeTask(await ended(one, task), { prompt: world.script(gate("held"), say("second")) });
    await one.host.gate("held").reachedBy(1);
    for (const side of [one, two]) {
      const { task: after, asked } = await side.engine.cancelTask(task, "too late");
      expect([after.run.number, after.status, after.cancelRequestedAt, asked]).toEqual([1, "resumed", null, false]);
    }
    one.host.gate("held").open();
    const second = await when(one, task, ({ status }) => status !== "resumed");
    expect([second.status, second.run.result]).toEqual(["completed", "second"]);
  });

  test("a task whose process is dead is cancelled by whichever process is asked", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    expect((await two.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
  });

  test("a cancel of a dead process's run does not stop the next run, which began while the host was asked", async () => {
    const world = newWorld();
    const [asked, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = await world.side();
    let stops = 0;
    const two = await world.side({
      host: (host) => ({
        async inspect(...prompt) {
          asked.resolve();
          await door.promise;
          return host.inspect(...prompt);
        },
        async abort() {
          stops++;
        },
      }),
    });
    const task = await launch(one, world.parent(), world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    const cancelling = two.engine.cancelTask(task, "too late");
    await asked.promise;
    const failed = { type: "run.failed", at: world.now(), run: 0, error: "interrupted: gone", progress: null } as const;
    const { task: over } = await two.store.apply(task.id, failed);
    const prompt = world.script(gate("next"), say("second"));
    await two.engine.resumeTask(over ?? task, { prompt, allow: ["error"] });
    await two.host.gate("next").reachedBy(1);
    door.resolve();
    const { task: after, asked: isAsked } = await cancelling;
    expect([after.run.number, after.status, isAsked, stops]).toEqual([1, "resumed", false, 0]);
    two.host.gate("next").open();
    const second = await when(two, task, ({ status }) => status !== "resumed");
    expect([second.status, second.run.result]).toEqual(["completed", "second"]);
  });

  test("if the host cannot stop it, the task is unchanged, and cancel can be retried", async () => {
    const world = newWorld();
    let broken = true;
    const side = await world.side({
      host: (host) => ({
        async abort(sessionId) {
          if (broken) throw new AsyncAgentsError("host_failed", "no answer");
          await host.abort(sessionId);
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    expect(await codeOf(side.engine.cancel(parent, task.id))).toBe("host_failed");
    expect((await side.store.task(task.id))?.status).toBe("running");
    expect(await codeOf(side.engine.cancelAll(parent))).toBe("host_failed");
    broken = false;
    expect((await side.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
  });

  test("a cancel request that its process could not execute stays: it is retried automatically, and immediately when requested again", async () => {
    const world = newWorld();
    let broken = true;
    const tried = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let tries = 0;
    const unwilling = (host: ScriptedHost) => ({
      async abort(sessionId: string) {
        tried[tries++]?.resolve();
        if (broken) throw new AsyncAgentsError("host_failed", "no answer");
        await host.abort(sessionId);
      },
    });
    const [one, two] = [await world.side({ host: unwilling }), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await two.store.apply(task.id, { type: "cancel.requested", at: world.now(), run: 0 });
    await tried[0]?.promise;
    // No poll happens in this test: only a second request can wake it.
    await two.store.apply(task.id, { type: "cancel.requested", at: world.now(), run: 0 });
    await tried[1]?.promise;
    broken = false;
    expect((await two.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
    expect((await one.host.statuses()).has(task.sessionId)).toBe(false);
  });

  test("a cancel request that its process could not execute is executed by the next poll that can", async () => {
    const world = newWorld();
    let failures = 3;
    const unwilling = (host: ScriptedHost) => ({
      async abort(sessionId: string) {
        if (failures-- > 0) throw new AsyncAgentsError("host_failed", "no answer");
        await host.abort(sessionId);
      },
    });
    const one = await world.side({ host: unwilling, settings: { pollMs: 10 } });
    const two = await world.side();
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await two.engine.cancel(parent, task.id);
    expect((await ended(two, task)).status).toBe("cancelled");
    expect((await one.host.statuses()).has(task.sessionId)).toBe(false);
  });

  test("a cancel that failed is tried again while the host leaves its other calls unanswered", async () => {
    const world = newWorld();
    const unanswered = Promise.withResolvers<never>();
    let tries = 0;
    const mute = (host: ScriptedHost) => ({
      async abort(sessionId: string) {
        // The first ones are not those of a poll.
        if (++tries < 6) throw new AsyncAgentsError("host_failed", "no answer");
        await host.abort(sessionId);
      },
      statuses: () => (tries === 0 ? host.statuses() : unanswered.promise),
    });
    const side = await world.side({ host: mute, settings: { pollMs: 10 } });
    const task = await launch(side, world.parent(), world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    expect(await codeOf(side.engine.cancelTask(task, "enough"))).toBe("host_failed");
    expect((await ended(side, task)).status).toBe("cancelled");
    unanswered.reject(new AsyncAgentsError("host_failed", "no answer"));
  });

  test("a cancel request outlives the process that could not execute it", async () => {
    const world = newWorld();
    const unwilling = { abort: () => Promise.reject(new AsyncAgentsError("host_failed", "no answer")) };
    const one = await world.side({ host: () => unwilling });
    const parent = world.parent();
    const held = await launch(one, parent, world.script(gate("held"), say("unheard")));
    const adopted = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(2);
    for (const task of [held, adopted]) expect(await codeOf(one.engine.cancel(parent, task.id))).toBe("host_failed");
    await one.kill();
    const two = await world.side({
      host: (host) => ({
        statuses: async () => new Map([...(await host.statuses()), [adopted.sessionId, { state: "busy" } as const]]),
      }),
      settings: { pollMs: 10 },
    });
    await two.supervisor.recover();
    for (const task of [held, adopted]) {
      expect(await ended(two, task)).toMatchObject({ status: "cancelled", run: { error: CANCELLED } });
    }
  });

  test("a cancel of a run that is stored, and whose process has not heard so yet, waits for that: it is never prompted", async () => {
    const world = newWorld();
    const [stored, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store = await sqliteStore({ directory: world.directory });
    let prompts = 0;
    const side = await world.side({
      store: {
        ...store,
        async write(work) {
          const written = await store.write(work);
          if ((await store.task(task?.id ?? ""))?.status === "resumed") {
            stored.resolve();
            await door.promise;
          }
          return written;
        },
      },
      settings: { launchPauseMs: 50 },
      host: (host) => ({
        async prompt(sessionId: string, input: PromptInput) {
          prompts++;
          await host.prompt(sessionId, input);
        },
      }),
    });
    const parent = world.parent();
    let task: Task | null = null;
    const first = await ended(side, await launch(side, parent, world.script(say("first"))));
    task = first;
    const resuming = side.engine.resumeTask(first, { prompt: world.script(say("second")) });
    await stored.promise;
    const cancelling = side.engine.cancel(parent, first.id);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    door.resolve();
    await resuming;
    const { task: after } = await cancelling;
    expect([after.run.number, after.status, side.engine.liveRuns, prompts]).toEqual([1, "cancelled", 0, 1]);
  });

  test("a cancel while the prompt is being sent leaves nothing running", async () => {
    const world = newWorld();
    const [sent, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const side = await world.side({
      host: (host) => ({
        async prompt(sessionId: string, input: PromptInput) {
          sent.resolve();
          await door.promise;
          await host.prompt(sessionId, input);
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await sent.promise;
    expect((await side.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
    const stopped = idle(side, task.sessionId);
    door.resolve();
    await stopped;
    expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
    expect((await side.store.task(task.id))?.run.outcome).toBe("cancelled");
  });

  test("a cancel while the answer to the prompt is late stops the agent when it begins", async () => {
    const world = newWorld();
    const [sent, door, answered] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const side = await world.side({
      host: (host) => ({
        async prompt(sessionId: string, input: PromptInput) {
          sent?.resolve();
          await door?.promise;
          await host.prompt(sessionId, input);
          await answered?.promise;
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await sent?.promise;
    await side.engine.cancel(parent, task.id);
    const stopped = idle(side, task.sessionId);
    door?.resolve();
    await stopped;
    expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
    answered?.resolve();
  });

  test("an abort in the task's own session is a cancel, with its author", async () => {
    const world = newWorld();
    const side = await world.side();
    const task = await launch(side, world.parent(), world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    await side.host.abort(task.sessionId);
    expect(await ended(side, task)).toMatchObject({
      status: "cancelled",
      run: { error: "aborted in its own session" },
    });
  });

  test("cancelling all cancels the caller's own live tasks", async () => {
    const world = newWorld();
    const side = await world.side();
    const [one, two] = [world.parent(), world.parent()];
    const done = await ended(side, await launch(side, one, world.script(say("x"))));
    const held = await launch(side, one, world.script(gate("held"), say("x")));
    const other = await launch(side, two, world.script(gate("held"), say("x")));
    expect((await side.engine.cancelAll(one)).map(({ task }) => task.id)).toEqual([held.id]);
    expect((await side.store.task(done.id))?.status).toBe("completed");
    expect((await side.store.task(other.id))?.status).toBe("running");
  });
});

test("a process that exits while a cancel waits for its host ends the task as cancelled", async () => {
  const world = newWorld();
  const side = await world.side({ host: () => ({ abort: () => Promise.reject(new Error("cannot stop")) }) });
  const start = (name: string) => launch(side, world.parent(), world.script(gate(name), say("x")));
  const [task, other] = [await start("one"), await start("two")];
  for (const name of ["one", "two"]) await side.host.gate(name).reachedBy(1);
  expect(await codeOf(side.engine.cancelTask(task, "cancelled by a person"))).toBe("host_failed");
  await side.engine.interrupt();
  expect((await side.store.task(task.id))?.status).toBe("cancelled");
  expect((await side.store.task(other.id))?.status).toBe("error");
});
