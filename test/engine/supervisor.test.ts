/** Several engines in one process: the feed, the heartbeats and the recovery are theirs together. */
import { describe, expect, test } from "bun:test";
import { Supervisor } from "../../src/engine/supervisor.ts";
import { gate, say } from "../../src/hosts/scripted/script.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { codeOf, idle, launch, newWorld, notices, type Side, type World } from "./engine-bed.ts";

/** Two engines of one process, in two directories. */
async function twoEngines(world: World, options: { pollMs?: number; beatMs?: number } = {}): Promise<[Side, Side]> {
  const { pollMs, beatMs } = options;
  const settings = pollMs === undefined ? {} : { pollMs };
  const one = await world.side({ directory: "/one", settings, ...(beatMs !== undefined && { beatMs }) });
  return [one, await world.side({ directory: "/two", supervisor: one.supervisor })];
}

/** Counts the looks for what dead processes left: nothing else reads all launches. */
function looksOf(store: Store): () => number {
  let looks = 0;
  const { launches } = store;
  store.launches = (...given) => {
    looks++;
    return launches(...given);
  };
  return () => looks;
}

test("the engines of a process are not others to each other: nobody has to be watched", async () => {
  const world = newWorld();
  const [one, two] = await twoEngines(world, { pollMs: 1 });
  const looks = looksOf(one.store);
  await launch(two, world.parent(), world.script(gate("held"), say("x")));
  await two.host.gate("held").reachedBy(1);
  expect(await one.supervisor.recover()).toBe(true);
  const after = looks();
  const entries = Promise.withResolvers<void>();
  one.supervisor.changes.onEntries(() => entries.resolve());
  await launch(two, world.parent(), world.script(say("y")));
  await entries.promise;
  await one.supervisor.recover();
  expect(looks() - after).toBe(1);
});

test("a recovery that could not read the store is repeated with the next poll, not after the long pause for hosts", async () => {
  const world = newWorld();
  const { store } = await world.side();
  const { launches } = store;
  const again = Promise.withResolvers<void>();
  let looks = 0;
  store.launches = (...given) => {
    if (++looks === 1) return Promise.reject(new Error("the database cannot be reached"));
    again.resolve();
    return launches(...given);
  };
  const supervisor = new Supervisor({
    ...systemClock,
    store,
    log: { info() {}, error() {} },
    isAlive: () => true,
    pollMs: 5,
    retryMs: 3_600_000,
    opener: { has: () => false, open: () => Promise.reject(new Error("nothing is opened here")) },
  });
  expect(await supervisor.recover()).toBe(false);
  await again.promise;
  supervisor.stop();
  await supervisor.idle();
});

test("what is written is read once for all engines, and each acts on what is its own", async () => {
  const world = newWorld();
  const [one, two] = await twoEngines(world);
  const other = await world.side();
  two.store.feed = () => Promise.reject(new Error("the feed was read a second time"));
  const tasks = await Promise.all(
    [one, two].map((side) => launch(side, world.parent(), world.script(gate(`held ${side.id}`), say("unheard")))),
  );
  for (const side of [one, two]) await side.host.gate(`held ${side.id}`).reachedBy(1);
  for (const task of tasks) {
    expect((await other.engine.cancelTask(task, "no longer needed")).task).toMatchObject({ status: "cancelled" });
  }
  expect([one.engine.liveRuns, two.engine.liveRuns, two.logged.filter((line) => line.includes("feed"))]).toEqual([
    0,
    0,
    [],
  ]);
});

describe("what a dead process left", () => {
  test("is put right by the engine of its own directory, and its parent is told once", async () => {
    const world = newWorld();
    const dead = await world.side({ directory: "/two" });
    const parent = world.parent();
    const task = await launch(dead, parent, world.script(gate("held"), say("x")));
    await dead.host.gate("held").reachedBy(1);
    await dead.kill();
    const one = await world.side({ directory: "/one" });
    const two = await world.side({ directory: "/two", supervisor: one.supervisor });
    const asked: string[] = [];
    for (const side of [one, two]) {
      const { inspect } = side.host;
      side.host.inspect = (...given) => {
        asked.push(side.id);
        return inspect(...given);
      };
    }
    expect(await one.supervisor.recover()).toBe(true);
    expect(asked).toEqual([two.id]);
    expect(await one.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    await notices(one, parent, "delivered", 1);
    expect(world.told(parent)).toHaveLength(1);
  });

  test("an engine that comes while a recovery is under way has its own launches recovered as well", async () => {
    const world = newWorld();
    const dead = await world.side({
      directory: "/two",
      reach: (point) => {
        if (point === "session-made") throw new Error("killed here");
      },
    });
    await expect(launch(dead, world.parent(), world.script(say("never")))).rejects.toThrow("killed here");
    await dead.kill();
    const one = await world.side({ directory: "/one" });
    const { endInstance } = one.store;
    const [ending, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    one.store.endInstance = async (id) => {
      ending.resolve();
      await door.promise;
      await endInstance(id);
    };
    const first = one.supervisor.recover();
    await ending.promise;
    expect(await one.store.launches()).toHaveLength(1);
    await world.side({ directory: "/two", supervisor: one.supervisor });
    const second = one.supervisor.recover();
    door.resolve();
    expect([await first, await second]).toEqual([true, true]);
    expect(await one.store.launches()).toEqual([]);
    expect((await one.store.tasks({})).tasks).toMatchObject([{ status: "error", run: { error: INTERRUPTED } }]);
  });
});

test("an engine whose instance others removed keeps its tasks: its own process does not recover them", async () => {
  const world = newWorld();
  const [one, two] = await twoEngines(world);
  const task = await launch(two, world.parent(), world.script(gate("held"), say("kept")));
  await two.host.gate("held").reachedBy(1);
  const dead = await world.side();
  const begun = await launch(dead, world.parent(), world.script(gate("dying"), say("x")));
  await dead.host.gate("dying").reachedBy(1);
  await dead.kill();
  // Stored as its own, and not driven yet.
  await one.store.apply(begun.id, { type: "task.adopted", at: world.now(), owner: two.id });
  await one.store.endInstance(two.id);
  expect(await one.supervisor.recover()).toBe(true);
  for (const { id } of [task, begun]) {
    expect(await one.store.task(id)).toMatchObject({ status: "running", owner: two.id });
  }
});

test("each engine has its heartbeat, and one that has stopped has none", async () => {
  const world = newWorld();
  const [one, two] = await twoEngines(world, { beatMs: 5 });
  const beats = async () => new Map((await one.store.instances()).map(({ id, beat }) => [id, beat]));
  const both = async () => [...(await beats()).values()].every((beat) => beat > 1) || null;
  await eventually(one.store, both);
  await two.engine.stop();
  const before = (await beats()).get(one.id) ?? 0;
  await eventually(one.store, async () => ((await beats()).get(one.id) ?? 0) > before + 2 || null);
  expect([...(await beats()).keys()]).toEqual([one.id]);
});

test("an instance that is registered again gives up what others took, even if the feed said nothing of it", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 5 });
  const task = await launch(one, world.parent(), world.script(gate("held"), say("unheard")));
  await one.host.gate("held").reachedBy(1);
  one.store.feed = async () => [];
  const stopped = idle(one, task.sessionId);
  await one.store.apply(task.id, { type: "task.adopted", at: world.now(), owner: "ins_other" });
  await one.store.endInstance(one.id);
  await stopped;
  expect(one.engine.liveRuns).toBe(0);
});

test("an instance that is registered again beats with a number that nobody has seen stand still", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 5 });
  const seen: number[] = [0];
  const { addInstance } = one.store;
  const thrice = Promise.withResolvers<void>();
  one.store.addInstance = async (instance) => {
    await addInstance(instance);
    // Others think again that it is dead, before its next heartbeat.
    if (seen.push(instance.beat) > 3) return thrice.resolve();
    await one.store.endInstance(one.id);
  };
  await one.store.endInstance(one.id);
  await thrice.promise;
  expect(new Set(seen).size).toBe(seen.length);
});

test("an instance that is registered again looks for what others began in its place", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 5, settings: { pollMs: 1 } });
  await one.supervisor.idle();
  const looked = Promise.withResolvers<void>();
  const { launches } = one.store;
  one.store.launches = (...given) => {
    looked.resolve();
    return launches(...given);
  };
  await one.store.endInstance(one.id);
  await looked.promise;
});

test("parents whose notices could not be read are looked for again", async () => {
  const world = newWorld();
  const one = await world.side({ settings: { pollMs: 1 } });
  const again = Promise.withResolvers<void>();
  let looks = 0;
  const { parentsWithNotices } = one.store;
  one.store.parentsWithNotices = (...given) => {
    if (++looks === 1) return Promise.reject(new Error("the disk is full"));
    again.resolve();
    return parentsWithNotices(...given);
  };
  await launch(one, world.parent(), world.script(say("done")));
  await again.promise;
});

test("a process without engines listens to nothing, and does again with the next engine", async () => {
  const world = newWorld();
  const one = await world.side({ started: false });
  let listening = 0;
  const { onChange } = one.store;
  one.store.onChange = (listener) => {
    listening++;
    const stop = onChange(listener);
    return () => {
      listening--;
      stop();
    };
  };
  await one.engine.start();
  expect(listening).toBe(1);
  await one.engine.stop();
  expect(listening).toBe(0);
  const next = await world.side({ supervisor: one.supervisor });
  expect(listening).toBe(1);
  const other = await world.side();
  const task = await launch(next, world.parent(), world.script(gate("held"), say("unheard")));
  await next.host.gate("held").reachedBy(1);
  expect((await other.engine.cancelTask(task, "no longer needed")).task).toMatchObject({ status: "cancelled" });
});

test("a process that opens hosts itself leaves a parent to the parent's own process, unless it recovered something", async () => {
  const world = newWorld();
  const dead = await world.side({ host: () => ({ notify: () => Promise.reject(new Error("not now")) }) });
  const parent = world.parent();
  await launch(dead, parent, world.script(say("x")));
  await notices(dead, parent, "sending", 1);
  await dead.kill();
  const opener = { has: () => false, open: () => Promise.reject(new Error("nothing to open")) };
  const daemon = await world.side({ opener });
  const { parentsWithNotices } = daemon.store;
  daemon.store.parentsWithNotices = () => Promise.reject(new Error("the daemon looked for parents"));
  expect(await daemon.supervisor.recover()).toBe(true);
  daemon.store.parentsWithNotices = parentsWithNotices;
  const other = await world.side();
  await launch(other, world.parent(), world.script(gate("held"), say("y")));
  await other.host.gate("held").reachedBy(1);
  await other.kill();
  await daemon.supervisor.recover();
  await notices(daemon, parent, "delivered", 1);
  expect(world.told(parent)).toHaveLength(1);
});

describe("an engine that comes when the process has stopped", () => {
  /** How many listen to the feed, and how many heartbeats were sent. */
  function workOf(store: Store) {
    const work = { listening: 0, beats: 0 };
    const { onChange, beat } = store;
    store.onChange = (listener) => {
      work.listening++;
      const stop = onChange(listener);
      return () => {
        work.listening--;
        stop();
      };
    };
    store.beat = (id) => {
      work.beats++;
      return beat(id);
    };
    return work;
  }

  test("is rejected, and nothing is registered or started", async () => {
    const world = newWorld();
    const one = await world.side({ started: false, beatMs: 1 });
    const work = workOf(one.store);
    one.supervisor.stop();
    expect(await codeOf(one.engine.start())).toBe("host_unavailable");
    expect([await one.store.instances(), work]).toEqual([[], { listening: 0, beats: 0 }]);
  });

  test.each(["addInstance", "lastSeq"] as const)("also if it stopped during %s", async (name) => {
    const world = newWorld();
    const one = await world.side({ started: false, beatMs: 1 });
    const work = workOf(one.store);
    const original = one.store[name] as (...given: unknown[]) => Promise<unknown>;
    Object.assign(one.store, {
      [name]: async (...given: unknown[]) => {
        const result = await original(...given);
        one.supervisor.stop();
        return result;
      },
    });
    expect(await codeOf(one.engine.start())).toBe("host_unavailable");
    // Long enough for a heartbeat, if there were one.
    await Bun.sleep(20);
    expect([await one.store.instances(), work]).toEqual([[], { listening: 0, beats: 0 }]);
  });
});

test("a process that has stopped recovers nothing more", async () => {
  const world = newWorld();
  const one = await world.side({ settings: { pollMs: 1 } });
  one.supervisor.stop();
  const looks = looksOf(one.store);
  one.supervisor.recoverLater();
  expect(await one.supervisor.recover()).toBe(true);
  await one.supervisor.idle();
  expect(looks()).toBe(0);
});
