import { describe, expect, test } from "bun:test";
import type { HostEvent, HostStatus, PromptInput } from "../../src/hosts/host.ts";
import { ask, call, gate, say } from "../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { NO_LIMITS } from "../../src/model/budgets/budget.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { ended, heard, launch, newWorld, notices, polls, when } from "./engine-bed.ts";

const MINUTE = 60_000;

describe("a run without any activity", () => {
  test("is marked as stalled, its parent is told once, and it works again at the next sign of life", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, stallMs: MINUTE } } });
    const parent = world.parent();
    const task = await launch(
      side,
      parent,
      world.script(gate("a"), call("look"), gate("b"), call("more"), say("done")),
    );
    await side.host.gate("a").reachedBy(1);
    await when(side, task, ({ phase }) => phase === "working");
    world.pass(MINUTE);
    await when(side, task, ({ phase }) => phase === "stalled");
    await notices(side, parent, "delivered", 1);
    side.host.gate("a").open();
    await when(side, task, ({ phase }) => phase === "working");
    await side.host.gate("b").reachedBy(1);
    world.pass(MINUTE);
    await when(side, task, ({ phase }) => phase === "stalled");
    side.host.gate("b").open();
    expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "done" } });
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 stalled", "told task#0 ended"]);
  });
});

test("a run that waits for its provider is not marked as stalled, neither then nor when it continues", async () => {
  const world = newWorld();
  let state: HostStatus = { state: "retrying", reason: "overloaded", count: 1 };
  const side = await world.side({
    host: (host) => ({
      statuses: async () => new Map([...(await host.statuses())].map(([id]) => [id, state])),
    }),
    settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, stallMs: MINUTE } },
  });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("kept"), say("done")));
  await when(side, task, ({ phase }) => phase === "retrying");
  world.pass(2 * MINUTE);
  await polls(side, 3);
  state = { state: "busy" };
  await when(side, task, ({ phase }) => phase === "working");
  await polls(side, 3);
  side.host.gate("kept").open();
  await ended(side, task);
  await notices(side, parent, "delivered", 1);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
});

test("a run that waits for a task of its own is not marked as stalled", async () => {
  const world = newWorld();
  const limits = { ...DEFAULT_LIMITS, stallMs: MINUTE };
  const side = await world.side({ settings: { pollMs: 5, maxDepth: 2, limits } });
  const above = await launch(side, world.parent(), world.script(gate("above"), say("x")));
  await side.host.gate("above").reachedBy(1);
  const below = await launch(side, above.sessionId, world.script(gate("below"), say("y")));
  await side.host.gate("below").reachedBy(1);
  world.pass(MINUTE);
  await when(side, below, ({ phase }) => phase === "stalled");
  expect(await side.store.task(above.id)).toMatchObject({ phase: "working" });
  side.host.gate("below").open();
  await ended(side, below);
  world.pass(MINUTE);
  await when(side, above, ({ phase }) => phase === "stalled");
});

describe("a run that exceeds its limits", () => {
  test("of time is stopped and ends as failed, with the matching message", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, runMs: 2 * MINUTE } } });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("long"), say("never")));
    await side.host.gate("long").reachedBy(1);
    world.pass(2 * MINUTE);
    const stopped = await ended(side, task);
    expect(stopped).toMatchObject({
      status: "error",
      run: { error: expect.stringContaining("longer than 2 minutes") },
    });
    expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
    await notices(side, parent, "delivered", 1);
  });

  test("of cost likewise, counting only this run's own cost", async () => {
    const world = newWorld();
    const costly = (host: ScriptedHost) => ({
      onEvent: (listener: (event: HostEvent) => void) =>
        host.onEvent((event) => listener(event.type === "usage.counted" ? { ...event, cost: 0.75 } : event)),
    });
    const side = await world.side({ host: costly, settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, cost: 1 } } });
    const parent = world.parent();
    const first = await ended(side, await launch(side, parent, world.script(say("cheap enough"))));
    expect(first).toMatchObject({ status: "completed", progress: { cost: 0.75 } });
    const caller = { sessionId: parent, messageId: "msg_more", agent: "general", model: null, variant: null };
    const again = await side.engine.resume(caller, first.id, world.script(say("still")));
    expect(await ended(side, again)).toMatchObject({ status: "completed", progress: { cost: 1.5 } });
    const dear = await side.engine.resume(
      caller,
      first.id,
      world.script(call("one"), call("two"), gate("dear"), say("x")),
    );
    expect(await ended(side, dear)).toMatchObject({
      status: "error",
      run: { number: 2, error: expect.stringContaining("has cost $1.50, and the limit is $1.00") },
    });
  });

  test("does not count what an earlier run used, and was reported late", async () => {
    const world = newWorld();
    const { host, emit } = heard();
    const side = await world.side({ host });
    const first = await ended(side, await launch(side, world.parent(), world.script(say("one"))));
    const next = await side.engine.resumeTask(first, { prompt: world.script(gate("held"), say("two")) });
    await side.host.gate("held").reachedBy(1);
    const tokens = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
    const counted = { type: "usage.counted", sessionId: first.sessionId, tokens } as const;
    emit({ ...counted, messageId: "late", cost: 1, answers: first.run.messageId });
    emit({ ...counted, messageId: "own", cost: 0.5, answers: next.run.messageId });
    side.host.gate("held").open();
    const { progress } = await ended(side, next);
    const turns = { cost: 2 * 0.01, input: 2 * 100 };
    expect(progress.cost).toBeCloseTo(turns.cost + 0.5);
    expect(progress.tokens.input).toBe(turns.input + 1);
  });

  test("an agent lowers what is configured for the runs that it launches, and a person may raise it", async () => {
    const world = newWorld();
    const given: unknown[] = [];
    const asked = (host: ScriptedHost) => ({
      prompt: (sessionId: string, input: PromptInput) => {
        given.push(input.maxCost);
        return host.prompt(sessionId, input);
      },
    });
    const side = await world.side({ host: asked, settings: { limits: { ...DEFAULT_LIMITS, cost: 1 } } });
    const parent = world.parent();
    const ways = [{ limits: { cost: 9 } }, { limits: { cost: 0.5 } }, {}].flatMap((way) => [
      { ...way, isAgents: true },
      { ...way, isAgents: false },
    ]);
    for (const way of ways) await ended(side, await launch(side, parent, world.script(say("x")), way));
    expect(given).toEqual([1, 9, 0.5, 0.5, 1, 1]);
  });

  test("that were set for it alone: a host that enforces the cost itself is given those, and the configured ones for other runs", async () => {
    const world = newWorld();
    const given: unknown[] = [];
    const asked = (host: ScriptedHost) => ({
      prompt: (sessionId: string, input: PromptInput) => {
        given.push(input.maxCost);
        return host.prompt(sessionId, input);
      },
    });
    const side = await world.side({ host: asked, settings: { limits: { ...DEFAULT_LIMITS, cost: 1 } } });
    const parent = world.parent();
    for (const limits of [{ cost: 5 }, { cost: null }, { runMs: MINUTE }, {}]) {
      await ended(side, await launch(side, parent, world.script(say("done")), { limits }));
    }
    expect(given).toEqual([5, null, 1, 1]);
  });

  test("of identical calls in a row likewise; a different call in between resets the count", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, repeats: 2 } } });
    const again = call("grep", { output: "nothing" });
    const other = call("grep", { output: "something" });
    const script = world.script(again, again, other, again, again, gate("fine"), again, gate("loop"), say("never"));
    const task = await launch(side, world.parent(), script);
    await side.host.gate("fine").reachedBy(1);
    await polls(side, 2);
    expect(await side.store.task(task.id)).toMatchObject({ status: "running" });
    side.host.gate("fine").open();
    expect(await ended(side, task)).toMatchObject({
      status: "error",
      run: { error: expect.stringContaining("called grep with the same arguments 3 times") },
    });
  });

  test("is left alone while it waits for a person, and that time does not count", async () => {
    const world = newWorld();
    const limits = { ...DEFAULT_LIMITS, stallMs: 10 * MINUTE, runMs: 30 * MINUTE };
    const side = await world.side({ settings: { pollMs: 5, limits } });
    const script = world.script(ask("question", "Which one?"), gate("on"), say("so it is"));
    const task = await launch(side, world.parent(), script);
    const waiting = await when(side, task, ({ phase }) => phase === "waiting");
    world.pass(60 * MINUTE);
    await polls(side, 3);
    expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "waiting" });
    await side.engine.answerTask(waiting, { kind: "question", answers: ["this"] });
    await side.host.gate("on").reachedBy(1);
    await polls(side, 3);
    expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "working" });
    world.pass(31 * MINUTE);
    expect(await ended(side, task)).toMatchObject({
      status: "error",
      run: { error: expect.stringContaining("longer than 30 minutes") },
    });
  });

  test("is left alone even if something else in it continues beside the open request", async () => {
    const world = newWorld();
    const { host, emit } = heard();
    const side = await world.side({ host, settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, runMs: MINUTE } } });
    const task = await launch(side, world.parent(), world.script(ask("question", "Which one?"), say("x")));
    await when(side, task, ({ phase }) => phase === "waiting");
    emit({ type: "session.opened", sessionId: "inner", parentSessionId: task.sessionId });
    emit({ type: "session.retrying", sessionId: "inner", reason: "overloaded", count: 1 });
    emit({ type: "text.written", sessionId: "inner" });
    await when(side, task, ({ phase }) => phase === "waiting");
    world.pass(2 * MINUTE);
    await polls(side, 3);
    expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "waiting" });
  });

  test("is stopped if something else in it works beyond a limit beside the open request", async () => {
    for (const [limit, error] of [
      [{ runMs: 5 * MINUTE }, "longer than 5 minutes"],
      [{ cost: 5 }, "the limit is $5.00"],
    ] as const) {
      const world = newWorld();
      const { host, emit } = heard();
      const side = await world.side({ host, settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, ...limit } } });
      const script = world.script(ask("question", "Which one?"), say("x"));
      const budget = { ...NO_LIMITS, ms: 60 * MINUTE };
      const task = await launch(side, world.parent(), script, { budget });
      await when(side, task, ({ phase }) => phase === "waiting");
      emit({ type: "session.opened", sessionId: "inner", parentSessionId: task.sessionId });
      const tokens = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
      for (let minute = 1; minute <= 6; minute++) {
        world.pass(MINUTE);
        emit({ type: "usage.counted", sessionId: "inner", messageId: `m${minute}`, tokens, cost: 1 });
      }
      expect(await ended(side, task)).toMatchObject({
        status: "error",
        run: { error: expect.stringContaining(error) },
        progress: { workedMs: expect.any(Number) },
      });
      expect((await side.store.budgets.get(`task:${task.id}`))?.spent.ms).toBeGreaterThan(5 * MINUTE);
    }
  });
});
