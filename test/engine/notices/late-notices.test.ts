/** Notices whose delivery failed, and that arrive all the same. */
import { expect, test } from "bun:test";
import type { NotifyInput } from "../../../src/hosts/host.ts";
import { say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import type { Task } from "../../../src/model/task.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { type Faults, faultyStore } from "../../store/faulty-store.ts";
import { ended, idle, launch, NEVER, newWorld, notices, type Side, type World } from "../engine-bed.ts";

interface LateNotice {
  world: World;
  side: Side;
  parent: string;
  faults: Faults;
  /** Everything that was sent to the parent. */
  sent: NotifyInput[];
  /** Lets the first message arrive, whose call has failed. */
  arrive(): Promise<void>;
}

/** A task has ended, and the first message about it is on its way although its call failed. */
async function lateNotice(isRetryAnswered = true): Promise<LateNotice> {
  const world = newWorld();
  const { store, faults } = await faultyStore(world.directory);
  const sent: NotifyInput[] = [];
  const late = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const side = await world.side({
    store,
    host: (host) => ({
      async notify(sessionId, input) {
        sent.push(input);
        if (sent.length > 1) await host.notify(sessionId, input);
        if (sent.length > 2 || (sent.length === 2 && isRetryAnswered)) return;
        if (sent.length === 1) void late.promise.then(() => host.notify(sessionId, input)).then(arrived.resolve);
        throw new AsyncAgentsError("host_failed", "no answer within 30 s");
      },
    }),
    settings: { noticeRetryMs: NEVER },
  });
  const parent = world.parent();
  const { id }: Task = await ended(side, await launch(side, parent, world.script(say("x"))));
  await eventually(side.store, async () => ((await side.store.lastNotice(id))?.reason ? true : null));
  const arrive = () => {
    late.resolve();
    return arrived.promise;
  };
  return { world, side, parent, faults, sent, arrive };
}

/** A person writes to the parent, as the plugin reports it; resolves when the parent's turn after that is over. */
async function wake(side: Side, sessionId: string): Promise<void> {
  const woken = idle(side, sessionId);
  await side.engine.handles({ sessionId, messageId: "msg_person", agent: "general", model: null, variant: null });
  await woken;
}

test("a message that arrives after its call failed is announced once, in one turn", async () => {
  const { world, side, parent, sent, arrive } = await lateNotice();
  await ended(side, await launch(side, parent, world.script(say("x")), { description: "meanwhile" }));
  await wake(side, parent);
  await arrive();
  await notices(side, parent, "delivered", 2);
  expect(new Set(sent.slice(0, 2).map(({ messageId }) => messageId)).size).toBe(1);
  expect(world.told(parent)).toEqual(["told task#0 ended", "told meanwhile#0 ended"]);
  expect(world.turns(parent)).toBe(2);
}, 60_000);

/** A person asks the parent something, and it answers. */
async function goOn({ side, parent }: LateNotice): Promise<void> {
  const answered = idle(side, parent);
  await side.host.prompt(parent, { messageId: side.host.newMessageId(), text: "?", agent: "general", model: null });
  await answered;
}

test("one that arrives after the parent has gone on is announced once, and a message points to it", async () => {
  const late = await lateNotice();
  const { world, side, parent, sent, arrive } = late;
  await goOn(late);
  await wake(side, parent);
  await arrive();
  await notices(side, parent, "delivered", 1);
  const [first, placed, pointer] = sent;
  expect(sent.map(({ wake: isWoken }) => isWoken)).toEqual([true, false, true]);
  expect([placed?.messageId, pointer?.messageId === first?.messageId]).toEqual([first?.messageId, false]);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
}, 60_000);

test("a parent that has gone on is woken, although the call that placed the message failed", async () => {
  const late = await lateNotice(false);
  const { world, side, parent, sent } = late;
  await goOn(late);
  await wake(side, parent);
  await notices(side, parent, "delivered", 1);
  expect(sent.map(({ wake: isWoken }) => isWoken)).toEqual([true, false, true]);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
}, 60_000);

test("a parent that has gone on is woken once, although that it was told could not be written at first", async () => {
  const late = await lateNotice();
  const { world, side, parent, faults, sent } = late;
  await goOn(late);
  let failed = 0;
  faults.write = () => (sent.length > 1 && ++failed === 1 ? "failed" : "answered");
  await wake(side, parent);
  await side.untilLogged("could not be delivered");
  await side.engine.handles({
    sessionId: parent,
    messageId: "msg_again",
    agent: "general",
    model: null,
    variant: null,
  });
  await notices(side, parent, "delivered", 1);
  expect(sent.map(({ wake: isWoken }) => isWoken)).toEqual([true, false, true]);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
}, 60_000);
