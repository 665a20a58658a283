/** Messages into runs at work, on the scripted host: stored first, sent once, and told apart by what became of them. */
import { describe, expect, test } from "bun:test";
import { cancelSteering } from "../../../src/engine/steering.ts";
import { call, gate, retry, say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { ENDED_FIRST, type SteeringMessage } from "../../../src/model/steering.ts";
import type { Task } from "../../../src/model/task.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { callerOf, codeOf, ended, launch, newWorld, type Side } from "../engine-bed.ts";

const MOMENT = { timeout: 5_000 };

/** Sends a message and does not wait. */
const steer = (side: Side, parent: string, task: Task, text: string) =>
  side.engine.steer(callerOf(parent), task.id, text, {});

async function reaches(side: Side, { id }: SteeringMessage, state: SteeringMessage["state"]): Promise<SteeringMessage> {
  const read = async () => {
    const message = await side.store.steeringMessage(id);
    return message?.state === state ? message : null;
  };
  return eventually(side.store, read);
}

function said({ store }: Side, task: Task): Promise<[string, string][]> {
  return store.steering(task.id).then((messages) => messages.map(({ text, state }) => [text, state]));
}

describe("a message into a run at work", () => {
  test("is delivered once its agent takes it up, and the run ends with the turn that worked it off", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const script = world.script(call("bash"), gate("held"), say("too early"), gate("more"), say("with that as well"));
    const task = await launch(one, parent, script);
    await one.host.gate("held").reachedBy(1);
    // Another process accepts it, and the one that drives the run sends it.
    const sent = await reaches(two, await steer(two, parent, task, "mind the tests"), "sent");
    expect([sent.by, sent.messageId, sent.sentAt]).toEqual([
      parent,
      expect.stringMatching(/^msg_/),
      expect.any(Number),
    ]);
    one.host.gate("held").open();
    await one.host.gate("more").reachedBy(1);
    const delivered = await reaches(two, sent, "delivered");
    expect([delivered.messageId, delivered.settledAt]).toEqual([sent.messageId, expect.any(Number)]);
    expect((await two.store.task(task.id))?.status).toBe("running");
    one.host.gate("more").open();
    const end = await ended(one, task);
    expect([end.status, end.run.result]).toEqual(["completed", "with that as well"]);
    const events = (await one.store.feed(0)).map(({ event }) => event.type).filter((type) => type.startsWith("steer."));
    expect(events).toEqual(["steer.accepted", "steer.sent", "steer.delivered"]);
    const texts = world.messages(task.sessionId).filter(({ text }) => text === "mind the tests");
    expect(texts.map(({ id }) => id)).toEqual([sent.messageId ?? ""]);
  });

  test("that was in the session when the run was paused is delivered with the prompt after the pause", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { pollMs: 5 } });
    const parent = world.parent();
    const refused = retry("429", 1, { returnMs: 3_600_000 });
    const task = await launch(
      side,
      parent,
      world.script(gate("held"), refused, say("never"), call("edit"), say("done")),
    );
    await side.host.gate("held").reachedBy(1);
    const steered = side.host.steer;
    const arrived = Promise.withResolvers<void>();
    side.host.steer = async (...given) => {
      await steered?.(...given);
      arrived.resolve();
    };
    const sent = await steer(side, parent, task, "mind the tests");
    await arrived.promise;
    side.host.gate("held").open();
    await eventually(side.store, async () => (await side.store.task(task.id))?.phase === "paused" || null);
    world.pass(2 * 3_600_000);
    expect((await ended(side, task)).run.result).toBe("done");
    expect((await side.store.steeringMessage(sent.id))?.state).toBe("delivered");
  });

  test("keeps its order with others, and waits until the run is prompted", async () => {
    const world = newWorld();
    const { promise: prompted, resolve: prompt } = Promise.withResolvers<void>();
    const side = await world.side({
      host: (host) => ({
        async prompt(...given) {
          await prompted;
          return host.prompt(...given);
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(call("bash"), gate("order"), call("bash"), say("done")));
    const first = await steer(side, parent, task, "one");
    const second = await steer(side, parent, task, "two");
    expect([first.state, second.state]).toEqual(["accepted", "accepted"]);
    prompt();
    await reaches(side, second, "sent");
    side.host.gate("order").open();
    expect((await ended(side, task)).run.result).toBe("done");
    expect(await said(side, task)).toEqual([
      ["one", "delivered"],
      ["two", "delivered"],
    ]);
    const users = world.messages(task.sessionId).filter(({ role }) => role === "user");
    expect(users.map(({ text }) => text).slice(1)).toEqual(["one", "two"]);
  });

  test("fails with the reason if the run ends first, and so does a message to a task that has ended", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("unheard")));
    await side.host.gate("held").reachedBy(1);
    const sent = await reaches(side, await steer(side, parent, task, "never read"), "sent");
    await side.engine.cancel(parent, task.id);
    const failed = await reaches(side, sent, "failed");
    expect([failed.reason, failed.settledAt]).toEqual([ENDED_FIRST.sent, expect.any(Number)]);
    expect(await codeOf(steer(side, parent, task, "again"))).toBe("task_not_live");
    expect(await codeOf(side.engine.steer(callerOf(world.parent()), task.id, "not mine", {}))).toBe("not_allowed");
    expect(await codeOf(steer(side, parent, task, "  "))).toBe("invalid_input");
  });

  test("fails at once where the host takes none, which says what to do", async () => {
    const world = newWorld();
    const side = await world.side({ host: () => ({ steer: undefined }) });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("held"), say("done")));
    await side.host.gate("held").reachedBy(1);
    const failed = await side.engine.steer(callerOf(parent), task.id, "hello", MOMENT);
    expect([failed.state, failed.reason]).toEqual(["failed", expect.stringContaining("resume the task")]);
    side.host.gate("held").open();
    expect((await ended(side, task)).run.result).toBe("done");
  });

  test("can be cancelled until it is sent, and not afterwards", async () => {
    const world = newWorld();
    const side = await world.side({ host: () => ({ prompt: () => new Promise<void>(() => {}) }) });
    const parent = world.parent();
    const waiting = await launch(side, parent, world.script(say("never")));
    const held = await steer(side, parent, waiting, "no");
    const context = { store: side.store, now: world.now };
    expect((await cancelSteering(context, held.id, "a person", { isOwner: true })).state).toBe("cancelled");

    const other = await world.side();
    const task = await launch(other, parent, world.script(gate("held"), say("done")));
    await other.host.gate("held").reachedBy(1);
    const sent = await reaches(other, await steer(other, parent, task, "yes"), "sent");
    expect(await codeOf(cancelSteering(context, sent.id, "a person", { isOwner: true }))).toBe("not_cancellable");
  });

  test("whose call failed is sent again with the same id, and arrives once", async () => {
    const world = newWorld();
    const calls: string[] = [];
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const side = await world.side({
      settings: { pollMs: 20 },
      host: (host) => ({
        async steer(sessionId, input) {
          calls.push(input.messageId);
          if (calls.length !== 1) await host.steer(sessionId, input);
          if (calls.length === 3) arrive();
          if (calls.length < 3) throw new AsyncAgentsError("host_failed", "no answer");
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(call("bash"), gate("again"), call("bash"), say("done")));
    await side.host.gate("again").reachedBy(1);
    const message = await steer(side, parent, task, "once");
    await arrived;
    expect(new Set(calls).size).toBe(1);
    side.host.gate("again").open();
    await reaches(side, message, "delivered");
    expect((await ended(side, task)).run.result).toBe("done");
    expect(world.messages(task.sessionId).filter(({ text }) => text === "once")).toHaveLength(1);
  });
});

describe("when its process dies", () => {
  test("what the agent had taken up was delivered, and the answer before it is not the run's", async () => {
    const world = newWorld();
    const one = await world.side({ host: () => ({ onEvent: () => () => undefined }) });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("first"), say("too early"), gate("then"), say("unheard")));
    await one.host.gate("first").reachedBy(1);
    const read = await reaches(one, await steer(one, parent, task, "and this"), "sent");
    one.host.gate("first").open();
    await one.host.gate("then").reachedBy(1);
    const late = await reaches(one, await steer(one, parent, task, "and that"), "sent");
    await one.kill();
    const two = await world.side();
    await two.supervisor.recover();
    const after = await two.store.task(task.id);
    expect([after?.status, after?.run.error]).toEqual(["error", expect.stringContaining("interrupted")]);
    expect((await two.store.steeringMessage(read.id))?.state).toBe("delivered");
    expect(await two.store.steeringMessage(late.id)).toMatchObject({ state: "failed", reason: ENDED_FIRST.sent });
  });

  test("between the store and the session, who takes the run over sends what was accepted, once", async () => {
    const world = newWorld();
    const { promise: never } = Promise.withResolvers<void>();
    const one = await world.side({ host: () => ({ prompt: async () => undefined, steer: () => never }) });
    const parent = world.parent();
    const task = await launch(one, parent, world.script(call("bash"), gate("held"), call("bash"), say("after all")));
    const sent = await reaches(one, await steer(one, parent, task, "first"), "sent");
    const second = await steer(one, parent, task, "second");
    await one.kill();
    const two = await world.side();
    await two.host.prompt(task.sessionId, { ...task.run, text: task.run.prompt, agent: "general", model: null });
    await two.host.gate("held").reachedBy(1);
    await two.supervisor.recover();
    await reaches(two, second, "sent");
    two.host.gate("held").open();
    expect((await ended(two, task)).run.result).toBe("after all");
    expect(await said(two, task)).toEqual([
      ["first", "delivered"],
      ["second", "delivered"],
    ]);
    const shown = world.messages(task.sessionId).filter(({ text }) => text === "first");
    expect(shown.map(({ id }) => id)).toEqual([sent.messageId ?? ""]);
  });
});
