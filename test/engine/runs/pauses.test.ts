/** Runs that wait for their provider, or begin again after a stall, with engines that are killed meanwhile. */
import { describe, expect, test } from "bun:test";
import { Slots } from "../../../src/engine/runs/slots.ts";
import { call, delegate, fail, gate, retry, say } from "../../../src/hosts/scripted/script.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../src/model/limits.ts";
import { ended, launch, newWorld, notices, polls, type Side, type World, when } from "../engine-bed.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const settings = (limits: Partial<Limits> = {}) => ({ pollMs: 5, limits: { ...DEFAULT_LIMITS, ...limits } });

const prompts = (world: World, sessionId: string) =>
  world.messages(sessionId).flatMap((message) => (message.role === "user" ? [message.text] : []));

const eventsOf = async (side: Side, type: string) =>
  (await side.store.feed(0)).filter(({ event }) => event.type === type).length;

describe("a turn that fails with the time when the provider will be back", () => {
  test("pauses the run, which goes on in its session at that time, and ends once", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings() });
    const parent = world.parent();
    const prompt = world.script(call("look"), fail("limit reached", { returnMs: 3 * HOUR }), call("more"), say("done"));
    const task = await launch(side, parent, prompt);
    const paused = await when(side, task, ({ phase }) => phase === "paused");
    const detail = paused.phaseDetail?.kind === "paused" ? paused.phaseDetail : null;
    expect(detail).toMatchObject({ cause: "quota", reason: "limit reached", count: 1 });
    // Staggered: by up to a tenth, and up to a minute.
    const wait = (detail?.until ?? 0) - world.now();
    expect([wait > 3 * HOUR - MINUTE, wait <= 3 * HOUR + MINUTE]).toEqual([true, true]);
    world.pass(2 * HOUR);
    await polls(side, 3);
    expect((await side.store.task(task.id))?.phase).toBe("paused");
    world.pass(HOUR + MINUTE);
    const done = await ended(side, task);
    expect(done).toMatchObject({ status: "completed", run: { number: 0, result: "done" } });
    expect(done.progress.toolCalls).toBe(2);
    expect(done.progress.cost).toBeCloseTo(0.04);
    expect(prompts(world, task.sessionId)).toEqual([prompt, expect.stringContaining("Go on where you stopped")]);
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 retrying", "told task#0 ended"]);
    // Only the end starts a turn of the parent.
    expect(world.turns(parent)).toBe(1);
  });

  test("can be cancelled meanwhile", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings() });
    const task = await launch(side, "", world.script(fail("limit", { returnMs: HOUR }), say("unheard")));
    const paused = await when(side, task, ({ phase }) => phase === "paused");
    await side.engine.cancelTask(paused, "not needed");
    expect(await ended(side, task)).toMatchObject({ status: "cancelled", phase: null, phaseDetail: null });
    expect(side.engine.liveRuns).toBe(0);
    expect(prompts(world, task.sessionId)).toHaveLength(1);
  });

  test("ends the run if it would have to wait longer, or more often, than it may", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ quotaMs: 2 * HOUR, quotaWaits: 2 }) });
    const long = await launch(side, "", world.script(fail("limit", { returnMs: 3 * HOUR }), say("unheard")));
    expect((await ended(side, long)).run.error).toContain("a run may wait for its provider for 2 hours");
    const short = { returnMs: MINUTE };
    const often = await launch(side, "", world.script(fail("a", short), fail("b", short), fail("c", short), say("no")));
    for (const count of [1, 2]) {
      await when(side, often, ({ phaseDetail: detail }) => detail?.kind === "paused" && detail.count === count);
      world.pass(2 * MINUTE);
    }
    expect((await ended(side, often)).run.error).toContain("has waited for its provider 2 times, which is the limit");
  });

  test("gives its slot to others, and waits for one when its time has come", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings(), slots: new Slots(1) });
    const first = await launch(side, "", world.script(fail("limit", { returnMs: HOUR }), say("first")));
    await when(side, first, ({ phase }) => phase === "paused");
    const second = await launch(side, "", world.script(gate("held"), say("second")));
    await side.host.gate("held").reachedBy(1);
    world.pass(2 * HOUR);
    await polls(side, 3);
    expect((await side.store.task(first.id))?.phase).toBe("paused");
    side.host.gate("held").open();
    expect((await ended(side, second)).run.result).toBe("second");
    expect((await ended(side, first)).run.result).toBe("first");
  });

  test("does not count as working time", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ runMs: 30 * MINUTE }) });
    const task = await launch(side, "", world.script(fail("limit", { returnMs: HOUR }), gate("b"), say("done")));
    await when(side, task, ({ phase }) => phase === "paused");
    world.pass(2 * HOUR);
    await side.host.gate("b").reachedBy(1);
    await polls(side, 3);
    side.host.gate("b").open();
    expect((await ended(side, task)).status).toBe("completed");
  });
});

describe("a host that waits by itself", () => {
  test("is left alone for a short time, which is shown", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings() });
    const task = await launch(side, "", world.script(retry("slow down", 1, { returnMs: 200 }), say("done")));
    const retrying = await when(side, task, ({ phase }) => phase === "retrying");
    expect(retrying.phaseDetail).toMatchObject({ reason: "slow down", count: 1, until: expect.any(Number) });
    expect((await ended(side, task)).run.result).toBe("done");
    expect(prompts(world, task.sessionId)).toHaveLength(1);
  });

  test("is stopped if it would wait long: the run is paused in the store instead", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings() });
    const task = await launch(side, "", world.script(retry("quota", 1, { returnMs: HOUR }), say("lost"), say("done")));
    await when(side, task, ({ phase }) => phase === "paused");
    await polls(side, 2);
    expect((await side.host.statuses()).size).toBe(0);
    world.pass(2 * HOUR);
    expect((await ended(side, task)).run.result).toBe("done");
    expect(await eventsOf(side, "run.continued")).toBe(1);
  });

  test("ends the run if that is longer than it may wait, also where a session below it retries", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ quotaMs: 2 * HOUR }) });
    const tooLong = retry("quota", 1, { returnMs: 3 * HOUR });
    world.sessions.script("below", [tooLong, gate("never"), say("unheard")]);
    const prompts = [world.script(tooLong, gate("never"), say("unheard")), world.script(delegate("below"), say("no"))];
    for (const prompt of prompts) {
      const task = await launch(side, "", prompt);
      expect((await ended(side, task)).run.error).toContain("a run may wait for its provider for 2 hours");
    }
  });

  test("ends the run after too many tries, with the reason", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ retries: 5 }) });
    const task = await launch(side, "", world.script(retry("overloaded", 6), gate("never"), say("unheard")));
    const done = await ended(side, task);
    expect([done.status, done.run.error]).toEqual(["error", expect.stringContaining("gave up after 6 failed tries")]);
    expect(done.run.error).toContain("(the limit is 5 retries): overloaded. Resume the task to try again.");
  });

  test("ends the run after too long a time; a sign of work begins the count anew", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ retryMs: HOUR }) });
    const steps = [retry("down", 2), gate("a"), call("look"), retry("down", 2), gate("b"), say("unheard")];
    const task = await launch(side, "", world.script(...steps));
    await when(side, task, ({ phase }) => phase === "retrying");
    world.pass(HOUR - MINUTE);
    side.host.gate("a").open();
    await side.host.gate("b").reachedBy(1);
    await when(side, task, ({ phase }) => phase === "retrying");
    world.pass(HOUR - MINUTE);
    await polls(side, 3);
    expect((await side.store.task(task.id))?.status).toBe("running");
    world.pass(2 * MINUTE);
    expect((await ended(side, task)).run.error).toContain("gave up after 2 failed tries in 61 minutes");
  });
});

describe("a stalled run", () => {
  test("ends, if that is the policy", async () => {
    const world = newWorld();
    const side = await world.side({ settings: settings({ stallPolicy: "stop", stallMs: MINUTE }) });
    const task = await launch(side, "", world.script(call("bash"), gate("never"), say("unheard")));
    await side.host.gate("never").reachedBy(1);
    await polls(side, 2);
    world.pass(2 * MINUTE);
    const { run } = await ended(side, task);
    expect(run.error).toBe(
      "stopped: the agent showed no sign of life for 1 minute, the last one a call of bash. What it did is in its session.",
    );
  });

  test("is stopped and told to go on, a limited number of times", async () => {
    const world = newWorld();
    const limits = { stallPolicy: "restart", stallMs: MINUTE, stallRestarts: 1 } as const;
    const side = await world.side({ settings: settings(limits) });
    const parent = world.parent();
    const prompt = world.script(gate("a"), say("lost"), gate("b"), say("lost"));
    const task = await launch(side, parent, prompt);
    await side.host.gate("a").reachedBy(1);
    await when(side, task, ({ phase }) => phase === "working");
    world.pass(2 * MINUTE);
    await side.host.gate("b").reachedBy(1);
    await when(side, task, ({ phase }) => phase === "working");
    expect(prompts(world, task.sessionId)).toEqual([prompt, expect.stringContaining("You showed no sign of life")]);
    world.pass(2 * MINUTE);
    expect((await ended(side, task)).run.error).toContain("It was restarted once before.");
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 stalled", "told task#0 ended"]);
  });

  test("is given more time during a tool that is known to be slow", async () => {
    const world = newWorld();
    const limits = { stallPolicy: "stop", stallMs: MINUTE, stallToolMs: { bash: HOUR } } as const;
    const side = await world.side({ settings: settings(limits) });
    const slow = await launch(side, "", world.script(call("Bash"), gate("slow"), say("done")));
    const other = await launch(side, "", world.script(call("read"), gate("other"), say("unheard")));
    await side.host.gate("slow").reachedBy(1);
    await side.host.gate("other").reachedBy(1);
    await polls(side, 2);
    world.pass(30 * MINUTE);
    expect((await ended(side, other)).run.error).toContain("no sign of life for 1 minute");
    expect(await side.store.task(slow.id)).toMatchObject({ status: "running", phase: "working" });
    side.host.gate("slow").open();
    expect((await ended(side, slow)).run.result).toBe("done");
  });
});

describe("kill -9 of the process", () => {
  test("of a paused run: another takes it up, and it goes on exactly once", async () => {
    const world = newWorld();
    const one = await world.side({ settings: settings() });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(call("x"), fail("limit", { returnMs: HOUR }), say("done")));
    await when(one, task, ({ phase }) => phase === "paused");
    await one.kill();
    const others = [await world.side({ settings: settings() }), await world.side({ settings: settings() })];
    await Promise.all(others.map((side) => side.supervisor.recover()));
    const [two] = others as [Side, Side];
    expect(await two.store.task(task.id)).toMatchObject({ status: "running", phase: "paused" });
    world.pass(2 * HOUR);
    const done = await ended(two, task);
    expect([done.status, done.run.result, done.progress.toolCalls]).toEqual(["completed", "done", 1]);
    expect(prompts(world, task.sessionId)).toHaveLength(2);
    expect(await eventsOf(two, "run.continued")).toBe(1);
    await notices(two, parent, "delivered", 2);
    expect(world.told(parent).filter((told) => told.includes("ended"))).toHaveLength(1);
  });

  for (const point of ["pause-written", "continue-stored"] as const) {
    test(`at ${point}: nothing is doubled or forgotten`, async () => {
      const world = newWorld();
      let victim: Side | null = null;
      const died = Promise.withResolvers<void>();
      const reach = (reached: string) => {
        if (reached !== point || victim === null) return;
        const { kill } = victim;
        victim = null;
        died.resolve(kill());
        throw new Error("killed");
      };
      const one = await world.side({ settings: settings(), reach });
      victim = one;
      const script = world.script(retry("quota", 1, { returnMs: HOUR }), say("lost"), say("done"));
      const task = await launch(one, "", script);
      if (point === "continue-stored") {
        await when(one, task, ({ phase }) => phase === "paused");
        await polls(one, 2);
        world.pass(2 * HOUR);
      }
      await died.promise;
      const two = await world.side({ settings: settings() });
      await two.supervisor.recover();
      world.pass(2 * HOUR);
      const done = await ended(two, task);
      expect([done.status, done.run.number]).toEqual(["completed", 0]);
      expect(prompts(world, task.sessionId)).toHaveLength(2);
    });
  }

  test("of a run whose host waited by itself for a short time: it goes on", async () => {
    const world = newWorld();
    const one = await world.side({ settings: settings({ hostWaitMs: 2 * HOUR }) });
    const task = await launch(one, "", world.script(retry("quota", 1, { returnMs: HOUR }), say("lost"), say("done")));
    await when(one, task, ({ phase }) => phase === "retrying");
    await one.kill();
    const two = await world.side({ settings: settings() });
    await two.supervisor.recover();
    await when(two, task, ({ phase }) => phase === "paused");
    world.pass(2 * HOUR);
    expect((await ended(two, task)).status).toBe("completed");
    expect(prompts(world, task.sessionId)).toHaveLength(2);
  });

  test("of a run that retries an error without a time: it is interrupted, as before", async () => {
    const world = newWorld();
    const one = await world.side({ settings: settings() });
    const task = await launch(one, "", world.script(retry("overloaded", 2), gate("held"), say("lost")));
    await when(one, task, ({ phase }) => phase === "retrying");
    await one.kill();
    const two = await world.side({ settings: settings() });
    await two.supervisor.recover();
    expect((await ended(two, task)).run.error).toContain("interrupted");
  });

  test("an orderly end leaves a paused run to the next process, too", async () => {
    const world = newWorld();
    const one = await world.side({ settings: settings() });
    const task = await launch(one, "", world.script(fail("limit", { returnMs: HOUR }), say("done")));
    await when(one, task, ({ phase }) => phase === "paused");
    await polls(one, 2);
    await one.engine.interrupt();
    await one.engine.stop();
    const two = await world.side({ settings: settings() });
    await two.supervisor.recover();
    expect(await two.store.task(task.id)).toMatchObject({ status: "running", phase: "paused", owner: two.id });
    world.pass(2 * HOUR);
    expect((await ended(two, task)).run.result).toBe("done");
  });
});

test("a wall clock that is set back does not prolong a pause", async () => {
  const world = newWorld();
  const side = await world.side({ settings: settings() });
  const task = await launch(side, "", world.script(fail("limit", { returnMs: HOUR }), say("done")));
  await when(side, task, ({ phase }) => phase === "paused");
  world.jump(-10 * HOUR);
  world.pass(2 * HOUR);
  expect((await ended(side, task)).run.result).toBe("done");
});

test("nor one that another process takes up", async () => {
  const world = newWorld();
  const one = await world.side({ settings: settings() });
  const task = await launch(one, "", world.script(fail("limit", { returnMs: HOUR }), say("done")));
  await when(one, task, ({ phase }) => phase === "paused");
  await one.kill();
  world.jump(-10 * HOUR);
  const two = await world.side({ settings: settings() });
  await two.supervisor.recover();
  world.pass(2 * HOUR);
  expect((await ended(two, task)).run.result).toBe("done");
});

test("runs that wait for the same time do not all begin at once", async () => {
  const world = newWorld();
  const side = await world.side({ settings: settings() });
  const waiting = world.script(fail("limit", { returnMs: HOUR }), say("done"));
  const tasks = await Promise.all(Array.from({ length: 8 }, () => launch(side, "", waiting)));
  const until = await Promise.all(
    tasks.map(async (task) => {
      const { phaseDetail } = await when(side, task, ({ phase }) => phase === "paused");
      return phaseDetail?.kind === "paused" ? phaseDetail.until : 0;
    }),
  );
  expect(Math.max(...until) - Math.min(...until)).toBeGreaterThan(10_000);
  expect(new Set(until).size).toBeGreaterThan(6);
});
