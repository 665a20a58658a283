import { describe, expect, test } from "bun:test";
import { Slots } from "../../src/engine/slots.ts";
import type { HostEvent } from "../../src/hosts/host.ts";
import type { ScriptedHost } from "../../src/hosts/scripted.ts";
import { ask, call, gate, say } from "../../src/hosts/scripted-script.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import type { Task } from "../../src/model/task.ts";
import { ended, launch, newWorld, notices, type Side, when } from "./engine-bed.ts";

const MINUTE = 60_000;

/** Resolves after so many more looks at the host's statuses. */
function polls(side: Side, count: number): Promise<void> {
  const { statuses } = side.host;
  let left = count;
  return new Promise((resolve) => {
    side.host.statuses = () => {
      if (--left === 0) resolve();
      return statuses();
    };
  });
}

describe("a run of which nothing is seen", () => {
  test("is called stalled, its parent is told once, and it works again with the next sign of life", async () => {
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

test("a run that its provider keeps waiting is not called stalled", async () => {
  const world = newWorld();
  const refused = { state: "retrying", reason: "overloaded", count: 1 } as const;
  const side = await world.side({
    host: (host) => ({
      statuses: async () => new Map([...(await host.statuses())].map(([id]) => [id, refused])),
    }),
    settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, stallMs: 1 } },
  });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(gate("kept"), say("done")));
  await when(side, task, ({ phase }) => phase === "retrying");
  world.pass(MINUTE);
  await polls(side, 3);
  side.host.gate("kept").open();
  await ended(side, task);
  await notices(side, parent, "delivered", 1);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
});

describe("a run that goes beyond its limits", () => {
  test("of time is stopped and ends as failed, with the words for that", async () => {
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

  test("of cost likewise, by what this run alone has cost", async () => {
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
      ...{
        status: "error",
        run: { number: 2, error: expect.stringContaining("has cost $1.50, and the limit is $1.00") },
      },
    });
  });

  test("of the same call in a row likewise; another one in between begins the count anew", async () => {
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
      ...{ status: "error", run: { error: expect.stringContaining("called grep with the same arguments 3 times") } },
    });
  });

  test("is left alone while it waits for a person", async () => {
    const world = newWorld();
    const side = await world.side({
      settings: { pollMs: 5, limits: { ...DEFAULT_LIMITS, stallMs: 1, runMs: MINUTE } },
    });
    const task = await launch(side, world.parent(), world.script(ask("question", "Which one?"), say("so it is")));
    await when(side, task, ({ phase }) => phase === "waiting");
    world.pass(MINUTE);
    await polls(side, 3);
    expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "waiting" });
  });
});

describe("more runs than may be at work at once", () => {
  test("wait in line, in order and visibly, over all engines of a process; one can be cancelled there", async () => {
    const world = newWorld();
    const slots = new Slots(2);
    const [one, two] = [await world.side({ slots }), await world.side({ slots })];
    const parent = world.parent();
    const launched = [];
    for (const [index, side] of [one, one, two, one, two].entries()) {
      const script = world.script(gate(`g${index}`), say(`${index}`));
      launched.push(await launch(side, parent, script, { description: `task ${index}` }));
    }
    const [first, second, third, fourth, fifth] = launched as [Task, Task, Task, Task, Task];
    await one.host.gate("g0").reachedBy(1);
    await one.host.gate("g1").reachedBy(1);
    for (const task of [third, fourth, fifth]) {
      expect(await when(one, task, ({ phase }) => phase === "queued")).toMatchObject({ status: "running" });
    }
    await one.engine.cancel(parent, fourth.id);
    expect(await one.store.task(fourth.id)).toMatchObject({ status: "cancelled" });
    expect(world.messages(fourth.sessionId)).toEqual([]);
    one.host.gate("g1").open();
    await ended(one, second);
    await two.host.gate("g2").reachedBy(1);
    await when(two, third, ({ phase }) => phase === "working");
    expect(await one.store.task(fifth.id)).toMatchObject({ phase: "queued" });
    two.host.gate("g2").open();
    await two.host.gate("g4").reachedBy(1);
    two.host.gate("g4").open();
    one.host.gate("g0").open();
    for (const task of [first, third, fifth]) {
      expect(await ended(one, task)).toMatchObject({ status: "completed" });
    }
  });

  test("an engine that stops gives its places to the others", async () => {
    const world = newWorld();
    const slots = new Slots(1);
    const [one, two] = [await world.side({ slots }), await world.side({ slots })];
    await launch(one, world.parent(), world.script(gate("held"), say("x")));
    const waiting = await launch(two, world.parent(), world.script(say("at last")));
    await when(two, waiting, ({ phase }) => phase === "queued");
    await one.engine.stop();
    expect(await ended(two, waiting)).toMatchObject({ status: "completed", run: { result: "at last" } });
  });

  test("those in line do not begin when the process is about to end", async () => {
    const world = newWorld();
    const prompted: string[] = [];
    const side = await world.side({
      slots: new Slots(1),
      host: (host) => ({
        prompt(sessionId, input) {
          prompted.push(sessionId);
          return host.prompt(sessionId, input);
        },
      }),
    });
    const [first, second] = [
      await launch(side, world.parent(), world.script(gate("held"), say("x"))),
      await launch(side, world.parent(), world.script(say("never"))),
    ];
    await side.host.gate("held").reachedBy(1);
    await when(side, second, ({ phase }) => phase === "queued");
    await side.engine.interrupt();
    for (const task of [first, second]) {
      expect(await side.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    }
    // Whatever would begin now had its chance: it begins with the next turn of the event loop.
    await Bun.sleep(20);
    expect(prompted).toEqual([first.sessionId]);
  });

  test("a task of a task does not wait for the place of the one that waits for it", async () => {
    const world = newWorld();
    const side = await world.side({ slots: new Slots(1), settings: { maxDepth: 2 } });
    const above = await launch(side, world.parent(), world.script(gate("above"), say("x")));
    await side.host.gate("above").reachedBy(1);
    const below = await launch(side, above.sessionId, world.script(say("from below")));
    expect(await ended(side, below)).toMatchObject({ status: "completed", run: { result: "from below" } });
  });

  test("one that is taken over from a dead process has its place", async () => {
    const world = newWorld();
    const one = await world.side();
    const orphan = await launch(one, world.parent(), world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    const busy = () => Promise.resolve(new Map([[orphan.sessionId, { state: "busy" } as const]]));
    const two = await world.side({ host: () => ({ statuses: busy }), slots: new Slots(1) });
    await one.kill();
    await two.engine.recover();
    const next = await launch(two, world.parent(), world.script(say("later")));
    await when(two, next, ({ phase }) => phase === "queued");
  });
});
