/**
 * The store fails in the middle of something, or does it and the answer is lost. Nothing is done twice, nothing is
 * lost, and nothing stays open under a process that lives on.
 */
import { describe, expect, test } from "bun:test";
import { gate, say } from "../../src/hosts/scripted/script.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import type { Task } from "../../src/model/task.ts";
import { type FaultyStore, faultyStore, nth, once } from "../store/faulty-store.ts";
import { codeOf, ended, launch, newWorld, notices, type Side, type World, when } from "./engine-bed.ts";

interface Faulty extends FaultyStore {
  world: World;
  side: Side;
  parent: string;
}

async function faultyWorld(): Promise<Faulty> {
  const world = newWorld();
  const { store, faults } = await faultyStore(world.directory);
  return { world, store, faults, side: await world.side({ store }), parent: world.parent() };
}

/** All prompts that any session got, besides what parents were told. */
function prompts({ world }: Faulty): string[] {
  return world.sessions
    .all()
    .flatMap(({ messages }) => messages)
    .flatMap((message) => (message.role === "user" && !message.text.startsWith("told ") ? [message.text] : []));
}

async function completed({ world, side, store, parent }: Faulty, task: Task): Promise<Task> {
  const after = await ended(side, task);
  expect(after).toMatchObject({ status: "completed" });
  await notices(side, parent, "delivered", task.run.number + 1);
  await side.supervisor.recover();
  expect(world.told(parent)).toHaveLength(task.run.number + 1);
  expect([side.engine.liveRuns, await store.launches()]).toEqual([0, []]);
  return after;
}

test("an engine whose registration was stored while the answer was lost does not stay registered", async () => {
  const world = newWorld();
  const { store, faults } = await faultyStore(world.directory);
  const side = await world.side({ store, started: false });
  faults.write = nth(1, "lost");
  expect(await codeOf(side.engine.start())).toBe("store_unavailable");
  expect(await store.instances()).toEqual([]);
});

test("the tasks of a deleted parent are cancelled, although the store could not be read when it was deleted", async () => {
  const world = newWorld();
  const { store, faults } = await faultyStore(world.directory);
  const side = await world.side({ store, settings: { pollMs: 20 } });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("held"), say("x")), { fork: true });
  await side.host.gate("held").reachedBy(1);
  faults.areReadsFailing = true;
  await side.host.deleteSession(parent);
  await side.untilLogged("a deleted parent was not seen to");
  faults.areReadsFailing = false;
  expect((await ended(side, task)).status).toBe("cancelled");
});

describe("a launch", () => {
  test("that is stored begins, although the answer to that was lost", async () => {
    const faulty = await faultyWorld();
    faulty.faults.write = once("task.created", "lost");
    const task = await launch(faulty.side, faulty.parent, faulty.world.script(say("done")));
    await completed(faulty, task);
    expect(prompts(faulty)).toHaveLength(1);
  });

  test("that is not stored is closed as soon as the store works again, and never begins", async () => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    // The disk is full from then on.
    let isFull = false;
    faults.write = (events) => {
      isFull ||= events.includes("task.created");
      return isFull ? "failed" : "answered";
    };
    expect(await codeOf(launch(side, parent, world.script(say("never"))))).toBe("store_unavailable");
    expect(await side.supervisor.recover()).toBe(false);
    expect(await store.launches()).toHaveLength(1);
    faults.write = () => "answered";
    expect(await side.supervisor.recover()).toBe(true);
    expect([await store.launches(), (await store.tasks({})).total, prompts(faulty)]).toEqual([[], 0, []]);
    await completed(faulty, await launch(side, parent, world.script(say("next"))));
  });

  test("that may be stored while nobody can look is ended as soon as somebody can, and its parent is told", async () => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    faults.write = (events) => {
      faults.areReadsFailing ||= events.includes("task.created");
      return faults.areReadsFailing ? "lost" : "answered";
    };
    expect(await codeOf(launch(side, parent, world.script(say("never"))))).toBe("store_unavailable");
    faults.areReadsFailing = false;
    faults.write = () => "answered";
    const [stored] = (await store.tasks({})).tasks;
    expect(stored).toMatchObject({ status: "running", owner: side.id });
    expect(await side.supervisor.recover()).toBe(true);
    expect(await store.task(stored?.id ?? "")).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    await notices(side, parent, "delivered", 1);
    expect([world.told(parent).length, prompts(faulty)]).toEqual([1, []]);
  });

  test.each(["lost", "failed"] as const)("leaves nothing open if its first write was %s", async (fate) => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    faults.write = nth(1, fate);
    expect(await codeOf(launch(side, parent, world.script(say("never"))))).toBe("store_unavailable");
    expect(await side.supervisor.recover()).toBe(true);
    expect([await store.launches(), (await store.tasks({})).total, prompts(faulty)]).toEqual([[], 0, []]);
  });

  test("leaves nothing open if the store cannot be read before the session is created", async () => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    faults.write = () => {
      faults.areReadsFailing = true;
      return "answered";
    };
    const refused = launch(side, parent, world.script(say("never")));
    expect(await codeOf(refused)).toBe("store_unavailable");
    faults.areReadsFailing = false;
    expect([await store.launches(), (await store.tasks({})).total, prompts(faulty)]).toEqual([[], 0, []]);
  });

  test("leaves nothing open if its host gives the session of another task", async () => {
    const world = newWorld();
    let sessionId: string | null = null;
    const side = await world.side({
      host: (host) => ({
        async start(input) {
          sessionId ??= await host.start(input);
          return sessionId;
        },
      }),
    });
    await ended(side, await launch(side, world.parent(), world.script(say("one"))));
    expect(await codeOf(launch(side, world.parent(), world.script(say("never"))))).toBe("internal");
    expect(await side.store.launches()).toEqual([]);
  });

  test("that its host refused is closed later, if that could not be written, and the host's error is told", async () => {
    const world = newWorld();
    const { store, faults } = await faultyStore(world.directory);
    const refuse = () => Promise.reject(new Error("no sessions today"));
    const side = await world.side({ store, host: () => ({ start: refuse }) });
    faults.write = nth(2, "failed");
    await expect(launch(side, world.parent(), world.script(say("never")))).rejects.toThrow("no sessions today");
    expect(await store.launches()).toHaveLength(1);
    expect([await side.supervisor.recover(), await store.launches()]).toEqual([true, []]);
  });
});

describe("a resume", () => {
  test("that is stored begins, although the answer to that was lost", async () => {
    const faulty = await faultyWorld();
    const { faults, side, world, parent } = faulty;
    const task = await completed(faulty, await launch(side, parent, world.script(say("one"))));
    faults.write = once("task.resumed", "lost");
    const resumed = await side.engine.resumeTask(task, { prompt: world.script(say("two")) });
    await completed(faulty, resumed);
    expect(prompts(faulty)).toHaveLength(2);
  });

  test("that may be stored while nobody can look is ended, and can be repeated", async () => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    const task = await completed(faulty, await launch(side, parent, world.script(say("one"))));
    faults.write = (events) => {
      faults.areReadsFailing ||= events.includes("task.resumed");
      return faults.areReadsFailing ? "lost" : "answered";
    };
    const lost = side.engine.resumeTask(task, { prompt: world.script(say("two")), allow: ["error"] });
    expect(await codeOf(lost)).toBe("store_unavailable");
    faults.areReadsFailing = false;
    faults.write = () => "answered";
    expect(await side.supervisor.recover()).toBe(true);
    expect(await store.task(task.id)).toMatchObject({ status: "error", run: { number: 1, error: INTERRUPTED } });
    const request = { prompt: world.script(say("three")), allow: ["error"] as const };
    await completed(faulty, await side.engine.resumeTask((await store.task(task.id)) ?? task, request));
    expect(prompts(faulty)).toHaveLength(2);
  });
});

test("a doubtful run whose session cannot be read does not keep the others waiting", async () => {
  const world = newWorld();
  const { store, faults } = await faultyStore(world.directory);
  let unreadable = "";
  const side = await world.side({
    store,
    host: (host) => ({
      async inspect(sessionId, messageId) {
        if (sessionId === unreadable) throw new Error("too many messages");
        return host.inspect(sessionId, messageId);
      },
    }),
  });
  const parent = world.parent();
  const tasks = [
    await launch(side, parent, world.script(say("one"))),
    await launch(side, parent, world.script(say("x"))),
  ];
  for (const task of tasks) await ended(side, task);
  for (const task of tasks) {
    faults.write = (events) => {
      faults.areReadsFailing ||= events.includes("task.resumed");
      return faults.areReadsFailing ? "lost" : "answered";
    };
    const lost = side.engine.resumeTask((await store.task(task.id)) ?? task, { prompt: world.script(say("never")) });
    expect(await codeOf(lost)).toBe("store_unavailable");
    faults.areReadsFailing = false;
    faults.write = () => "answered";
  }
  unreadable = tasks[0]?.sessionId ?? "";
  expect(await side.supervisor.recover()).toBe(false);
  expect(await store.task(tasks[1]?.id ?? "")).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
});

test.each(["task.created", "task.resumed"] as const)(
  "a run whose write (%s) failed here and is committed later does not stay open",
  async (type) => {
    const faulty = await faultyWorld();
    const { faults, side, store, world, parent } = faulty;
    const task = await completed(faulty, await launch(side, parent, world.script(say("one"))));
    faults.write = once(type, "late");
    const prompt = world.script(say("never"));
    const begun = type === "task.created" ? launch(side, parent, prompt) : side.engine.resumeTask(task, { prompt });
    expect(await codeOf(begun)).toBe("store_unavailable");
    expect(await side.supervisor.recover()).toBe(true);
    const [newest] = (await store.tasks({})).tasks;
    expect(newest).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    expect([side.engine.liveRuns, await store.launches()]).toEqual([0, []]);
    expect(prompts(faulty)).toHaveLength(1);
  },
);

describe("the end of a run", () => {
  test.each(["run.completed", "run.phased", "run.progressed"] as const)(
    "is told once, although the answer to %s was lost",
    async (type) => {
      const faulty = await faultyWorld();
      const { faults, side, world, parent } = faulty;
      faults.write = once(type, "lost");
      await completed(faulty, await launch(side, parent, world.script(say("done"))));
    },
  );

  test("a cancel whose answer was lost has ended the task", async () => {
    const faulty = await faultyWorld();
    const { faults, side, world, parent } = faulty;
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    faults.write = once("run.cancelled", "lost");
    await side.engine.cancelTask(task, "not needed");
    expect(await ended(side, task)).toMatchObject({ status: "cancelled" });
    await notices(side, parent, "delivered", 1);
    expect([world.told(parent).length, side.engine.liveRuns]).toEqual([1, 0]);
  });

  test.each([1, 2])(
    "its notice is told once, although the answer to write %i about the notice was lost",
    async (number) => {
      const world = newWorld();
      const { store, faults } = await faultyStore(world.directory);
      const side = await world.side({ store, settings: { noticeRetryMs: 1 } });
      const parent = world.parent();
      const isEnd = (events: readonly string[]) => events.includes("run.completed");
      let after: number | null = null;
      faults.write = (events) => {
        if (after !== null) return ++after === number ? "lost" : "answered";
        if (isEnd(events)) after = 0;
        return "answered";
      };
      const task = await launch(side, parent, world.script(say("done")));
      await ended(side, task);
      await notices(side, parent, "delivered", 1);
      expect(world.told(parent)).toHaveLength(1);
    },
  );
});

describe("what a dead process left", () => {
  test("is adopted, although the answer to that was lost", async () => {
    const world = newWorld();
    const one = await world.side({ host: () => ({ prompt: async () => undefined }) });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("after all")));
    await one.kill();
    const { store, faults } = await faultyStore(world.directory);
    const two = await world.side({ store });
    await two.host.prompt(task.sessionId, {
      messageId: task.run.messageId,
      text: task.run.prompt,
      agent: task.agent,
      model: null,
    });
    await two.host.gate("held").reachedBy(1);
    faults.write = once("task.adopted", "lost");
    expect(await two.supervisor.recover()).toBe(false);
    expect(await two.supervisor.recover()).toBe(true);
    two.host.gate("held").open();
    expect(await when(two, task, ({ status }) => status === "completed")).toMatchObject({ run: { number: 0 } });
    await notices(two, parent, "delivered", 1);
    expect(world.told(parent)).toHaveLength(1);
  });

  test("a launch becomes one interrupted task, although the answer to that was lost", async () => {
    const world = newWorld();
    const kill = () => {
      throw new Error("killed here");
    };
    const one = await world.side({ reach: (point) => (point === "session-made" ? kill() : undefined) });
    const parent = world.parent();
    await expect(launch(one, parent, world.script(say("never")))).rejects.toThrow("killed here");
    await one.kill();
    const { store, faults } = await faultyStore(world.directory);
    const two = await world.side({ store });
    faults.write = once("task.created", "lost");
    expect(await two.supervisor.recover()).toBe(false);
    expect(await two.supervisor.recover()).toBe(true);
    expect(await store.tasks({})).toMatchObject({
      total: 1,
      tasks: [{ status: "error", run: { error: INTERRUPTED } }],
    });
    await notices(two, parent, "delivered", 1);
    expect([world.told(parent).length, await store.launches()]).toEqual([1, []]);
  });
});

test("a cancel whose end cannot be stored stands, also for the process that comes after", async () => {
  const { world, side, store, faults, parent } = await faultyWorld();
  const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
  await side.host.gate("held").reachedBy(1);
  faults.write = (events) => (events.includes("run.cancelled") ? "failed" : "answered");
  expect((await side.engine.cancelTask(task, "no more")).asked).toBe(true);
  expect((await store.task(task.id))?.cancelRequestedAt).not.toBeNull();
});
