/**
 * Budgets in the engine, on the scripted host: two processes on one store, a host that cannot wait with its requests, a
 * process that dies, working time, and models without a price.
 */
import { describe, expect, test } from "bun:test";
import { PERSON } from "../../src/engine/launch.ts";
import type { HostEvent } from "../../src/hosts/host.ts";
import { ask, call, gate, say } from "../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { NO_LIMITS } from "../../src/model/budgets/budget.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { codeOf, ended, launch, newWorld, notices, polls, type Side, when } from "./engine-bed.ts";

const MINUTE = 60_000;
const dollars = (cost: number) => ({ ...NO_LIMITS, cost });

/** Each message costs that much, as its host says. */
const costing = (cost: number) => (host: ScriptedHost) => ({
  onEvent: (listener: (event: HostEvent) => void) =>
    host.onEvent((event) => listener(event.type === "usage.counted" ? { ...event, cost } : event)),
});

/** The host does not say what anything costs. */
const silent = (host: ScriptedHost) => ({
  ...costing(0)(host),
  inspect: async (...call: Parameters<ScriptedHost["inspect"]>) => {
    const evidence = await host.inspect(...call);
    return { ...evidence, progress: { ...evidence.progress, cost: 0 } };
  },
});

async function budget(side: Side, id: string) {
  const found = await side.store.budgets.get(id);
  if (found === null) throw new Error(`no budget ${id}`);
  return found;
}

describe("a budget that is used up", () => {
  test("stops the runs of all processes at once, and they can be resumed when it is raised", async () => {
    const world = newWorld();
    // Never polled: the other process learns it from the feed.
    const settings = { budgets: { session: dollars(1) } };
    const one = await world.side({ host: costing(0.6), settings });
    const other = await world.side({ host: costing(0.6), settings });
    const parent = world.parent();
    const waiting = await launch(other, parent, world.script(gate("held"), say("never")));
    await other.host.gate("held").reachedBy(1);
    const first = await launch(one, parent, world.script(call("look"), gate("a"), call("look"), gate("b"), say("no")));
    await one.host.gate("a").reachedBy(1);
    await eventually(one.store, async () => (await budget(one, `session:${parent}`)).spent.cost > 0.5 || null);
    one.host.gate("a").open();
    for (const [side, task] of [
      [one, first],
      [other, waiting],
    ] as const) {
      const { status, run } = await ended(side, task);
      expect(status).toBe("error");
      expect(run.error).toStartWith(`stopped: the budget of session ${parent} is used up ($1.`);
    }
    expect(await codeOf(launch(one, parent, "more"))).toBe("over_budget");
    expect(await one.store.launches()).toEqual([]);
    const caller = { sessionId: parent, messageId: "m", agent: "general", model: null, variant: null };
    const prompt = world.script(say("went on"));
    expect(await codeOf(other.engine.resume(caller, waiting.id, prompt))).toBe("over_budget");
    const raised = { limits: { cost: 5 }, by: "me", at: world.now(), mayRaise: true };
    await one.store.budgets.set(`session:${parent}`, raised);
    const again = await other.engine.resume(caller, waiting.id, prompt);
    expect(await ended(other, again)).toMatchObject({ status: "completed", run: { result: "went on" } });
  });

  test("warns its parent once, without a turn of its own", async () => {
    const world = newWorld();
    const side = await world.side({ host: costing(0.85), settings: { budgets: { session: dollars(1) } } });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(call("look"), gate("a"), say("done")), { wake: "never" });
    await side.host.gate("a").reachedBy(1);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 budget"]);
    expect(world.turns(parent)).toBe(0);
    side.host.gate("a").open();
    await ended(side, task);
  });
});

test("what a dead process had reserved is free again when its tasks are recovered, and what it spent stays", async () => {
  const world = newWorld();
  const settings = { budgets: { session: dollars(2), task: dollars(1) } };
  const dying = await world.side({ host: costing(0.25), settings });
  const parent = world.parent();
  const tasks = [];
  for (const name of ["a", "b"]) {
    tasks.push(await launch(dying, parent, world.script(call("look"), gate(name), say("never"))));
    await dying.host.gate(name).reachedBy(1);
  }
  const id = `session:${parent}`;
  await eventually(dying.store, async () => (await budget(dying, id)).spent.cost === 0.5 || null);
  expect(await budget(dying, id)).toMatchObject({ reserved: { cost: 1.5 }, live: 2 });
  await dying.kill();
  const other = await world.side({ host: costing(0.25), settings });
  expect(await codeOf(launch(other, parent, "no room"))).toBe("over_budget");
  await other.engine.recover();
  for (const task of tasks) expect((await ended(other, task)).run.error).toStartWith("interrupted");
  expect(await budget(other, id)).toMatchObject({ spent: { cost: 0.5 }, reserved: { cost: 0 }, live: 0, tasks: 2 });
  await launch(other, parent, world.script(say("fits")));
});

test("a run whose budget is used up right before its prompt ends, though its host fails to stop it and something is left then", async () => {
  const world = newWorld();
  const parent = world.parent();
  const set = (cost: number) => {
    return side.store.budgets.set(`session:${parent}`, { limits: { cost }, by: "me", at: world.now(), mayRaise: true });
  };
  const host = () => ({
    abort: async () => {
      await set(5);
      throw new Error("no answer");
    },
  });
  const side = await world.side({ host, settings: { pollMs: 5, budgets: { session: dollars(1) } } });
  const { chains } = side.store.budgets;
  side.store.budgets.chains = async (taskIds) => {
    side.store.budgets.chains = chains;
    await set(0);
    return chains(taskIds);
  };
  const task = await launch(side, parent, world.script(say("never")));
  expect((await ended(side, task)).run.error).toStartWith(`stopped: the budget of session ${parent} is used up`);
});

test("a launch that was interrupted is told as such, though its budget has no room for it any more", async () => {
  const world = newWorld();
  const settings = { budgets: { session: { ...NO_LIMITS, tasks: 1 } } };
  const made = Promise.withResolvers<void>();
  const hang = (_sessionId: string) => {
    made.resolve();
    return new Promise<string>(() => undefined);
  };
  const host = (scripted: ScriptedHost) => ({
    start: async (input: Parameters<ScriptedHost["start"]>[0]) => hang(await scripted.start(input)),
  });
  const dying = await world.side({ settings, host });
  const parent = world.parent();
  void launch(dying, parent, world.script(say("never")));
  await made.promise;
  await dying.kill();
  const other = await world.side({ settings });
  const task = await launch(other, parent, world.script(gate("a"), say("never")));
  await other.host.gate("a").reachedBy(1);
  await other.engine.recover();
  expect(await other.store.launches()).toEqual([]);
  const { tasks } = await other.store.tasks({ status: ["error"] });
  expect(tasks).toMatchObject([{ run: { error: INTERRUPTED } }]);
  expect(await budget(other, `session:${parent}`)).toMatchObject({ tasks: 2, live: 1 });
  expect((await other.store.task(task.id))?.status).toBe("running");
});

test("a task that starts after others reserves its budget when it is launched, and frees it when it is skipped", async () => {
  const world = newWorld();
  const side = await world.side({ settings: { budgets: { session: dollars(3), task: dollars(1) } } });
  const parent = world.parent();
  const first = await launch(side, parent, world.script(gate("a"), say("never")));
  const after = { tasks: [first.id], ifFailed: "skip" } as const;
  const second = await launch(side, parent, world.script(say("unheard")), { after, budget: dollars(0.5) });
  const third = await launch(side, parent, world.script(say("unheard")), { after });
  const own = (id: string) => side.store.budgets.get(`task:${id}`);
  expect([await own(second.id), await own(third.id)]).toMatchObject([
    { limits: { cost: 0.5 } },
    { limits: { cost: 1 } },
  ]);
  const id = `session:${parent}`;
  expect(await budget(side, id)).toMatchObject({ reserved: { cost: 2.5 }, live: 3 });
  expect(await codeOf(launch(side, parent, "too much", { after, budget: dollars(2) }))).toBe("over_budget");
  await side.engine.cancelTask(first, "enough");
  for (const task of [second, third]) expect((await ended(side, task)).status).toBe("cancelled");
  expect(await budget(side, id)).toMatchObject({ reserved: { cost: 0 }, live: 0 });
});

test("a request waits for the others of its budget, which is no stall, and none begins when nothing is left", async () => {
  const world = newWorld();
  const limits = { ...DEFAULT_LIMITS, stallMs: 10_000 };
  const settings = { pollMs: 5, limits, budgets: { session: dollars(1) } };
  const side = await world.side({ host: costing(0.5), settings });
  const parent = world.parent();
  const tasks = [];
  for (const name of ["a", "b"]) {
    tasks.push(await launch(side, parent, world.script(gate(name), call("look"), gate(`${name}2`), say("never"))));
    await side.host.gate(name).reachedBy(1);
  }
  const [a, b] = tasks.map(({ sessionId }) => sessionId) as [string, string];
  await side.engine.mayRequest(a);
  let hasBegun = false;
  const second = side.engine.mayRequest(b).then(() => {
    hasBegun = true;
  });
  await side.engine.mayRequest(a);
  world.pass(11_000);
  await eventually(side.store, async () => (await side.store.task(a))?.phase === "stalled" || null);
  await polls(side, 2);
  expect(await side.store.task(b)).toMatchObject({ phase: "working" });
  expect(hasBegun).toBe(false);
  side.host.gate("a").open();
  await second;
  side.host.gate("b").open();
  await eventually(side.store, async () => (await side.store.task(b))?.status === "error" || null);
  expect(await codeOf(side.engine.mayRequest(a))).toBe("none");
  // A session that is none of ours is not held up.
  await side.engine.mayRequest(parent);
});

test("a task does not wait for ever for the request of its own parent, which waits for it", async () => {
  const world = newWorld();
  const settings = { maxDepth: 2, budgets: { session: dollars(1) } };
  const side = await world.side({ host: costing(0.5), settings });
  const parent = await launch(side, world.parent(), world.script(gate("a"), call("look"), gate("b"), say("never")));
  await side.host.gate("a").reachedBy(1);
  await side.engine.mayRequest(parent.sessionId);
  side.host.gate("a").open();
  const id = `session:${parent.parentSessionId}`;
  await eventually(side.store, async () => (await budget(side, id)).spent.cost > 0 || null);
  // Its next request is under way, and calls a tool that waits for its child.
  await side.engine.mayRequest(parent.sessionId);
  const child = await launch(side, parent.sessionId, world.script(gate("c"), say("never")));
  await side.host.gate("c").reachedBy(1);
  let hasBegun = false;
  const waiting = side.engine.mayRequest(child.sessionId).then(() => {
    hasBegun = true;
  });
  // Asked after it: the store answers in order.
  expect(await side.store.budgets.openRequest(child.id)).toMatchObject({ verdict: "wait" });
  expect(hasBegun).toBe(false);
  world.pass(MINUTE);
  await waiting;
});

test("working time counts without the time that a person needs, and stops a quiet run, too", async () => {
  const world = newWorld();
  const limits = { ...NO_LIMITS, ms: 10 * MINUTE };
  const side = await world.side({ settings: { pollMs: 5, budgets: { session: limits } } });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(ask("permission", "may I?"), gate("a"), say("never")));
  const asking = await when(side, task, ({ phase }) => phase === "waiting");
  world.pass(60 * MINUTE);
  await side.engine.answerTask(asking, { kind: "permission", decision: "once", message: null });
  await side.host.gate("a").reachedBy(1);
  world.pass(4 * MINUTE);
  const id = `session:${parent}`;
  await eventually(side.store, async () => (await budget(side, id)).spent.ms >= 4 * MINUTE || null);
  expect((await budget(side, id)).spent.ms).toBeLessThan(5 * MINUTE);
  world.pass(7 * MINUTE);
  expect((await ended(side, task)).run.error).toStartWith(`stopped: the budget of session ${parent} is used up (11`);
});

test("a model without a price is not counted as free, and one with a price is", async () => {
  const world = newWorld();
  const prices = { "some-model": { input: 1_000_000, output: 1_000_000 } };
  const side = await world.side({ host: silent, settings: { budgets: { batch: dollars(1_000_000) }, prices } });
  const parent = world.parent();
  const first = await launch(side, parent, world.script(call("look"), say("done")), { model: "x/other", batch: "a" });
  const unpriced = (await ended(side, first)).progress;
  expect(unpriced.cost).toBe(0);
  expect(unpriced.unpriced).toBeGreaterThan(0);
  expect((await budget(side, `batch:${first.batchId}`)).unpriced).toBe(unpriced.unpriced ?? 0);
  const model = "x/some-model";
  const second = await ended(side, await launch(side, parent, world.script(say("done")), { model, batch: "b" }));
  const { input, output } = second.progress.tokens;
  expect([second.progress.cost, second.progress.unpriced]).toEqual([input + output, undefined]);
});

test("an agent launches with no more than the settings give each task; a person may", async () => {
  const world = newWorld();
  const side = await world.side({ settings: { budgets: { task: { ...NO_LIMITS, cost: 1, tasks: 3 } } } });
  const limits = async (caller: string | typeof PERSON, fields: object) => {
    const task = await launch(side, caller, world.script(gate("held")), fields);
    return (await side.store.budgets.get(`task:${task.id}`))?.limits ?? null;
  };
  const most = { ...NO_LIMITS, cost: 1, tasks: 3 };
  const parent = world.parent();
  for (const [caller, fields] of [
    [parent, {}],
    [PERSON, { isAgents: true }],
  ] as const) {
    expect(await limits(caller, { ...fields, budget: NO_LIMITS })).toEqual(most);
    expect(await limits(caller, { ...fields, budget: dollars(1_000) })).toEqual(most);
    expect(await limits(caller, { ...fields, budget: { ...NO_LIMITS, cost: 0.5, ms: MINUTE } })).toEqual({
      ...most,
      cost: 0.5,
      ms: MINUTE,
    });
  }
  expect(await limits(PERSON, { budget: dollars(1_000) })).toEqual(dollars(1_000));
  expect(await limits(PERSON, { budget: NO_LIMITS })).toBeNull();
});
