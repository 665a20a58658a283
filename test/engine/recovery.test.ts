import { describe, expect, test } from "bun:test";
import { call, gate, say } from "../../src/hosts/scripted/script.ts";
import { INTERRUPTED, SESSION_DELETED } from "../../src/model/evidence.ts";
import type { Task } from "../../src/model/task.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { callerOf, codeOf, ended, idle, launch, newWorld, notices, when } from "./engine-bed.ts";

const deaf = () => ({ onEvent: () => () => undefined });

describe("recovery after a dead process", () => {
  test("a run that had finished counts with its real outcome", async () => {
    const world = newWorld();
    const one = await world.side({ host: deaf });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(call("bash"), say("found it")));
    const answered = async () => (await one.host.inspect(task.sessionId, task.run.messageId)).answer !== null;
    while (!(await answered())) await new Promise((resolve) => setImmediate(resolve));
    await one.kill();
    const two = await world.side();
    await two.supervisor.recover();
    expect(await two.store.task(task.id)).toMatchObject({ status: "completed", run: { result: "found it" } });
    expect((await two.store.task(task.id))?.progress.toolCalls).toBe(1);
    await notices(two, parent, "delivered", 1);
    expect([world.told(parent).length, world.turns(parent)]).toEqual([1, 0]);
  });

  test("a run in progress is marked interrupted, announced, and not prompted again", async () => {
    const world = newWorld();
    const one = await world.side();
    const parent = world.parent();
    const task = await launch(one, parent, world.script(call("bash"), gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    const two = await world.side();
    await two.supervisor.recover();
    expect(await two.store.task(task.id)).toMatchObject({ status: "error", owner: null, run: { error: INTERRUPTED } });
    await notices(two, parent, "delivered", 1);
    expect(world.messages(task.sessionId).filter((message) => message.role === "user")).toHaveLength(1);
    expect((await two.store.instances()).map(({ id }) => id)).toEqual([two.id]);
  });

  test("a run whose session is gone says so", async () => {
    const world = newWorld();
    const one = await world.side();
    const task = await launch(one, world.parent(), world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    world.sessions.remove(task.sessionId);
    const two = await world.side();
    await two.supervisor.recover();
    expect((await two.store.task(task.id))?.run.error).toBe(SESSION_DELETED);
  });

  test("a run that is still active in this host is taken over and finished", async () => {
    const world = newWorld();
    const one = await world.side({ host: () => ({ prompt: async () => undefined }) });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("after all")));
    await one.kill();
    const two = await world.side();
    const { messageId, prompt: text } = task.run;
    await two.host.prompt(task.sessionId, { messageId, text, agent: task.agent, model: null });
    await two.host.gate("held").reachedBy(1);
    await two.supervisor.recover();
    expect(await two.store.task(task.id)).toMatchObject({ status: "running", owner: two.id });
    two.host.gate("held").open();
    expect(await ended(two, task)).toMatchObject({ status: "completed", run: { result: "after all" } });
  });

  test("a live process's tasks are left alone, and recovered once it dies", async () => {
    const world = newWorld();
    const one = await world.side();
    const two = await world.side({ settings: { pollMs: 10 } });
    const task = await launch(one, world.parent(), world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    await two.supervisor.recover();
    expect(await two.store.task(task.id)).toMatchObject({ status: "running", owner: one.id });
    await one.kill();
    expect((await ended(two, task)).run.error).toBe(INTERRUPTED);
  });

  test("two concurrent recoveries produce one end and one notice", async () => {
    const world = newWorld();
    const one = await world.side();
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    const others = [await world.side(), await world.side(), await world.side()];
    await Promise.all(others.map((side) => side.supervisor.recover()));
    const [first] = others;
    if (!first) throw new Error("no side");
    await notices(first, parent, "delivered", 1);
    const ends = (await first.store.feed(0)).filter((entry) => entry.event.type === "run.failed");
    expect([ends.length, world.told(parent).length]).toEqual([1, 1]);
    expect((await first.store.task(task.id))?.status).toBe("error");
  });
});

describe("what cannot be repaired immediately", () => {
  const failingOnce = <Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) => {
    let failures = 1;
    return (...given: Arguments) => (failures-- > 0 ? Promise.reject(new Error("no answer")) : work(...given));
  };

  test("a task is retried, even if there is no other process", async () => {
    const world = newWorld();
    const one = await world.side();
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    const two = await world.side({
      settings: { pollMs: 10 },
      host: ({ inspect }) => ({ inspect: failingOnce(inspect) }),
    });
    expect(await two.supervisor.recover()).toBe(false);
    expect((await ended(two, task)).run.error).toBe(INTERRUPTED);
    await notices(two, parent, "delivered", 1);
  });

  test("and so is a launch", async () => {
    const world = newWorld();
    const one = await world.side({ host: (host) => ({ start: async (input) => hang(await host.start(input)) }) });
    const made = Promise.withResolvers<void>();
    const hang = (_sessionId: string) => {
      made.resolve();
      return new Promise<string>(() => undefined);
    };
    void launch(one, world.parent(), world.script(say("x")));
    await made.promise;
    await one.kill();
    const two = await world.side({
      settings: { pollMs: 10 },
      host: ({ findLaunched }) => ({ findLaunched: failingOnce(findLaunched) }),
    });
    expect(await two.supervisor.recover()).toBe(false);
    const [task] = await eventually(two.store, async () => {
      const { tasks } = await two.store.tasks({ status: ["error"] });
      return tasks.length > 0 ? tasks : null;
    });
    expect(task?.run.error).toBe(INTERRUPTED);
  });
});

describe("recovery while other processes work", () => {
  test("a process that starts and launches in the meantime keeps its task", async () => {
    const world = newWorld();
    const one = await world.side();
    const parent = world.parent();
    const { owners } = one.store;
    let launched: Task | undefined;
    one.store.owners = async () => {
      one.store.owners = owners;
      const two = await world.side();
      launched = await launch(two, parent, world.script(gate("held"), say("alive")));
      await two.host.gate("held").reachedBy(1);
      return owners();
    };
    await one.supervisor.recover();
    if (!launched) throw new Error("nothing was launched");
    expect(await one.store.task(launched.id)).toMatchObject({ status: "running", owner: "ins_2" });
  });

  test("and so does one whose launch is in progress", async () => {
    const world = newWorld();
    const one = await world.side();
    const [asked, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { launches } = one.store;
    let launching: Promise<Task> | undefined;
    one.store.launches = async () => {
      one.store.launches = launches;
      const two = await world.side({
        host: (host) => ({
          async start(input) {
            const sessionId = await host.start(input);
            asked.resolve();
            await door.promise;
            return sessionId;
          },
        }),
      });
      launching = launch(two, world.parent(), world.script(say("alive")));
      await asked.promise;
      return launches();
    };
    await one.supervisor.recover();
    door.resolve();
    expect(await launching).toMatchObject({ status: "running", owner: "ins_2" });
  });

  test("a run that another process has just taken over is not ended", async () => {
    const world = newWorld();
    const dead = await world.side({ host: () => ({ prompt: async () => undefined }) });
    const task = await launch(dead, world.parent(), world.script(gate("held"), say("after all")));
    await dead.kill();
    const two = await world.side();
    const late = await world.side({
      host: (host) => ({
        async inspect(sessionId, messageId) {
          const shown = await host.inspect(sessionId, messageId);
          const { prompt: text } = task.run;
          await two.host.prompt(sessionId, { messageId, text, agent: task.agent, model: null });
          await two.host.gate("held").reachedBy(1);
          await two.supervisor.recover();
          return shown;
        },
      }),
    });
    await late.supervisor.recover();
    expect(await late.store.task(task.id)).toMatchObject({ status: "running", owner: two.id });
    two.host.gate("held").open();
    expect(await ended(two, task)).toMatchObject({ status: "completed", run: { result: "after all" } });
  });

  test("a run whose prompt is not in its session is not taken over, though somebody else's works there", async () => {
    const world = newWorld();
    const dead = await world.side({ host: () => ({ prompt: async () => undefined }) });
    const task = await launch(dead, world.parent(), world.script(say("never")));
    await dead.kill();
    const side = await world.side();
    const text = world.script(gate("held"), say("theirs"));
    await side.host.prompt(task.sessionId, { messageId: "msg_person", text, agent: task.agent, model: null });
    await side.host.gate("held").reachedBy(1);
    await side.supervisor.recover();
    expect(await side.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
  });

  test("of two processes that find an active run, one takes it over", async () => {
    const world = newWorld();
    const dead = await world.side();
    const task = await launch(dead, world.parent(), world.script(gate("held"), say("after all")));
    await dead.host.gate("held").reachedBy(1);
    await dead.kill();
    const busy = () => ({ statuses: async () => new Map([[task.sessionId, { state: "busy" } as const]]) });
    const sides = [await world.side({ host: busy }), await world.side({ host: busy })];
    await Promise.all(sides.map(({ supervisor }) => supervisor.recover()));
    expect(sides.map(({ engine }) => engine.liveRuns).toSorted()).toEqual([0, 1]);
    const adopted = (await dead.store.feed(0)).filter(({ event }) => event.type === "task.adopted");
    expect(adopted).toHaveLength(1);
  });
});

test("a process whose run was taken over by another stops it at its own host", async () => {
  const world = newWorld();
  const one = await world.side();
  const task = await launch(one, world.parent(), world.script(gate("held"), say("unheard")));
  await one.host.gate("held").reachedBy(1);
  const stopped = idle(one, task.sessionId);
  await one.store.apply(task.id, { type: "task.adopted", at: world.now(), owner: "ins_other" });
  await stopped;
  expect([one.engine.liveRuns, (await one.host.statuses()).has(task.sessionId)]).toEqual([0, false]);
  expect(await one.store.task(task.id)).toMatchObject({ status: "running", owner: "ins_other" });
});

describe("recovery of a launch that has no task", () => {
  test("its session is found by the launch's id: the task is listed, interrupted, and announced", async () => {
    const world = newWorld();
    const one = await world.side({
      reach: (point) => {
        if (point === "session-made") throw new Error("killed here");
      },
    });
    const parent = world.parent();
    const refused = launch(one, parent, world.script(say("never")), { description: "lost" });
    await expect(refused).rejects.toThrow("killed here");
    await one.kill();
    const two = await world.side();
    await two.supervisor.recover();
    const { tasks } = await two.engine.list(parent, { limit: 10, offset: 0 });
    expect(tasks).toMatchObject([{ description: "lost", status: "error", run: { error: INTERRUPTED } }]);
    expect(world.sessions.get(tasks[0]?.sessionId ?? "").messages).toEqual([]);
    await notices(two, parent, "delivered", 1);
    expect(await two.store.launches()).toEqual([]);
  });

  test("one whose session was never created leaves nothing", async () => {
    const world = newWorld();
    const asked = Promise.withResolvers<void>();
    const one = await world.side({
      host: () => ({
        start: () => {
          asked.resolve();
          return new Promise<string>(() => undefined);
        },
      }),
    });
    void launch(one, world.parent(), "never");
    await asked.promise;
    await one.kill();
    const two = await world.side();
    expect(await two.store.launches()).toHaveLength(1);
    await two.supervisor.recover();
    expect([(await two.store.launches()).length, (await two.store.tasks({})).total]).toEqual([0, 0]);
  });

  test("a launch that the host rejected is closed immediately", async () => {
    const world = newWorld();
    const side = await world.side();
    expect(await codeOf(launch(side, callerOf("ses_gone"), "x"))).toBe("session_gone");
    expect(await side.store.launches()).toEqual([]);
  });
});

test("an engine that stops leaves its tasks to the next one", async () => {
  const world = newWorld();
  const one = await world.side();
  const task = await launch(one, world.parent(), world.script(gate("held"), say("x")));
  await when(one, task, (now) => now.phase === "working");
  await one.engine.stop();
  one.host.crash();
  const two = await world.side();
  await two.supervisor.recover();
  expect((await two.store.task(task.id))?.run.error).toBe(INTERRUPTED);
});
