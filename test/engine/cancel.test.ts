import { describe, expect, test } from "bun:test";
import type { PromptInput } from "../../src/hosts/host.ts";
import { gate, say } from "../../src/hosts/scripted-script.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { codeOf, ended, launch, newWorld, notices } from "./engine-bed.ts";

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

  test("a wish about another process's task is obeyed there", async () => {
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

  test("a task whose process is dead is cancelled by whoever is asked", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    expect((await two.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
  });

  test("a host that cannot stop it leaves the task as it is, and it can be tried again", async () => {
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

  test("a cancel while the prompt is on its way leaves nothing at work", async () => {
    const world = newWorld();
    const [sent, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const aborted = Promise.withResolvers<void>();
    let aborts = 0;
    const side = await world.side({
      host: (host) => ({
        async prompt(sessionId: string, input: PromptInput) {
          sent.resolve();
          await door.promise;
          await host.prompt(sessionId, input);
        },
        async abort(sessionId) {
          await host.abort(sessionId);
          if (++aborts === 2) aborted.resolve();
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await sent.promise;
    expect((await side.engine.cancel(parent, task.id)).task.status).toBe("cancelled");
    door.resolve();
    await aborted.promise;
    expect((await side.host.statuses()).has(task.sessionId)).toBe(false);
    expect((await side.store.task(task.id))?.run.outcome).toBe("cancelled");
  });

  test("an abort in the task's own session is a cancel, by whom it was", async () => {
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

  test("cancel of all takes the caller's own live tasks", async () => {
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
