import { describe, expect, test } from "bun:test";
import type { HostEvent, NotifyInput } from "../../../src/hosts/host.ts";
import { gate, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { callerOf, ended, idle, launch, NEVER, newWorld, notices, type Side } from "../engine-bed.ts";

/** The host itself rejects it, so nothing arrived. */
function refusal(message: string): AsyncAgentsError {
  return new AsyncAgentsError("host_failed", message, { details: { refused: true } });
}

/** A person's message in the parent's session, as the plugin reports it. */
function handles(side: Side, sessionId: string): Promise<void> {
  return side.engine.handles({ sessionId, messageId: "msg_person", agent: "general", model: null, variant: null });
}

describe("notices", () => {
  test("each ended run is announced once, however many engines handle the parent", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const tasks = await Promise.all(
      names.map((description) => launch(one, parent, world.script(say("done")), { description })),
    );
    await Promise.all(tasks.map((task) => ended(two, task)));
    await notices(two, parent, "delivered", names.length);
    const words = world.told(parent).flatMap((text) => text.slice(5).split(", "));
    expect(words.toSorted()).toEqual(names.map((name) => `${name}#0 ended`).toSorted());
    expect(await one.store.parentsWithNotices()).toEqual([]);
  });

  test("each message causes one turn, and there is no turn without one", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const woken = idle(side, parent);
    await ended(side, await launch(side, parent, world.script(say("done"))));
    await woken;
    expect([world.told(parent), world.turns(parent)]).toEqual([["told task#0 ended"], 1]);
  });

  test("if the host cannot be notified at all, the notice is dropped with the reason", async () => {
    const world = newWorld();
    const side = await world.side({ host: () => ({ notify: undefined }) as never });
    const parent = world.parent();
    await ended(side, await launch(side, parent, world.script(say("done"))));
    const [dropped] = await notices(side, parent, "dropped", 1);
    expect(dropped?.reason).toBe("scripted cannot add a message to a session");
    expect([world.told(parent), await side.store.parentsWithNotices()]).toEqual([[], []]);
  });

  test("notices that come during a delivery go into the next one", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const busy = { messageId: side.host.newMessageId(), text: world.script(gate("busy"), say("hm")) };
    await side.host.prompt(parent, { ...busy, agent: "general", model: null });
    await side.host.gate("busy").reachedBy(1);
    const start = (description: string) => launch(side, parent, world.script(say("done")), { description });
    await ended(side, await start("a"));
    await notices(side, parent, "delivered", 1);
    await ended(side, await start("b"));
    await ended(side, await start("c"));
    expect(world.told(parent)).toEqual(["told a#0 ended"]);
    expect(await side.store.notices(parent, "pending")).toHaveLength(2);
    side.host.gate("busy").open();
    await notices(side, parent, "delivered", 3);
    expect(world.told(parent)).toEqual(["told a#0 ended", "told b#0 ended, c#0 ended"]);
  });

  test("each parent has one delivery in flight at a time; other parents do not wait for it", async () => {
    const world = newWorld();
    const door = Promise.withResolvers<void>();
    const calls: string[] = [];
    const held = (host: ScriptedHost) => ({
      async notify(sessionId: string, input: NotifyInput) {
        calls.push(sessionId);
        if (sessionId === slow) await door.promise;
        await host.notify(sessionId, input);
      },
    });
    const [slow, quick] = [world.parent(), world.parent()];
    const [one, two] = [await world.side({ host: held }), await world.side({ host: held })];
    for (const parent of [slow, slow, slow, quick]) await ended(one, await launch(one, parent, world.script(say("x"))));
    await notices(two, quick, "delivered", 1);
    await handles(two, slow);
    expect(calls.filter((sessionId) => sessionId === slow)).toHaveLength(1);
    door.resolve();
    await notices(one, slow, "delivered", 3);
    expect(world.told(slow).join().match(/ended/g)).toHaveLength(3);
  });

  test("a failed delivery is retried", async () => {
    const world = newWorld();
    let failures = 1;
    const side = await world.side({
      host: (host) => ({
        notify(sessionId, input) {
          if (failures-- > 0) throw new AsyncAgentsError("host_failed", "not now");
          return host.notify(sessionId, input);
        },
      }),
    });
    const parent = world.parent();
    await ended(side, await launch(side, parent, world.script(say("x"))));
    const [delivered] = await notices(side, parent, "delivered", 1);
    expect(delivered?.attempts).toBe(2);
    expect(world.told(parent)).toHaveLength(1);
  }, 60_000);

  test("a notice that can never arrive is dropped with its reason", async () => {
    const world = newWorld();
    const side = await world.side({
      host: () => ({ notify: () => Promise.reject(new AsyncAgentsError("session_gone", "no such session")) }),
    });
    const parent = world.parent();
    await ended(side, await launch(side, parent, world.script(say("x"))));
    const [dropped] = await notices(side, parent, "dropped", 1);
    expect(dropped).toMatchObject({ attempts: 1, reason: "the parent session does not exist any more" });
  });

  test("nothing is given up: a notice that failed often is still delivered, and a person's message does not count as an attempt", async () => {
    const world = newWorld();
    let isBroken = true;
    let calls = 0;
    const side = await world.side({
      host: (host) => ({
        notify(sessionId, input) {
          calls++;
          return isBroken ? Promise.reject(refusal("not now")) : host.notify(sessionId, input);
        },
      }),
      settings: { noticeRetryMs: NEVER },
    });
    const parent = world.parent();
    await ended(side, await launch(side, parent, world.script(say("x"))));
    for (let count = 1; count <= 12; count++) {
      await eventually(side.store, async () => {
        const [pending] = await side.store.notices(parent, "pending");
        return calls >= count && pending?.reason === "not now" ? pending : null;
      });
      await handles(side, parent);
    }
    const [waiting] = await notices(side, parent, "pending", 1);
    expect(waiting).toMatchObject({ attempts: 1, nextTryAt: expect.any(Number) });
    isBroken = false;
    await handles(side, parent);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  }, 60_000);

  test("a notice that the host rejects does not keep the others from being delivered", async () => {
    const world = newWorld();
    const side = await world.side({
      host: (host) => ({
        notify: (sessionId, input) =>
          input.visible.includes("bad") ? Promise.reject(refusal("malformed")) : host.notify(sessionId, input),
      }),
      settings: { noticeRetryMs: 2 },
    });
    const parent = world.parent();
    const start = (description: string) => launch(side, parent, world.script(gate("held"), say("x")), { description });
    const tasks = await Promise.all(["bad", "good", "fine"].map(start));
    await side.host.gate("held").reachedBy(3);
    side.host.gate("held").open();
    for (const task of tasks) await ended(side, task);
    await notices(side, parent, "delivered", 2);
    await ended(side, await launch(side, parent, world.script(say("x")), { description: "later" }));
    await notices(side, parent, "delivered", 3);
    for (const name of ["good", "fine", "later"]) expect(world.told(parent).join()).toContain(`${name}#0 ended`);
    expect((await side.store.lastNotice(tasks[0]?.id ?? ""))?.reason).toBe("malformed");
  }, 60_000);

  test("an engine of another host neither delivers nor drops; one that does not know the session keeps the notice", async () => {
    const world = newWorld();
    const one = await world.side();
    const parent = world.parent();
    await launch(one, parent, world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    const gone = (_count = 0) => Promise.reject(new AsyncAgentsError("session_gone", "no such session"));
    let calls = 0;
    let strange = 0;
    const stranger = await world.side({ host: () => ({ notify: () => gone(++strange), kind: "another" }) as never });
    const elsewhere = await world.side({ host: () => ({ notify: () => gone(++calls) }) });
    await one.kill();
    await stranger.supervisor.recover();
    await elsewhere.supervisor.recover();
    await stranger.supervisor.recover();
    const [kept] = await eventually(one.store, async () => {
      const found = await one.store.notices(parent, "pending");
      return found[0]?.reason ? found : null;
    });
    expect(kept).toMatchObject({ reason: "this scripted does not know the parent session", attempts: 1 });
    expect([calls, strange, await one.store.notices(parent, "dropped")]).toEqual([1, 0, []]);
    const back = await world.side();
    await back.supervisor.recover();
    await notices(back, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
    expect(strange).toBe(0);
  }, 60_000);

  test("a dropped notice can be sent again", async () => {
    const world = newWorld();
    let isGone = true;
    const side = await world.side({
      host: (host) => ({
        notify: (sessionId, input) =>
          isGone
            ? Promise.reject(new AsyncAgentsError("session_gone", "no such session"))
            : host.notify(sessionId, input),
      }),
    });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("x"))));
    await notices(side, parent, "dropped", 1);
    isGone = false;
    await side.engine.tellAgain(task);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
    expect(side.engine.tellAgain(task)).rejects.toMatchObject({ code: "nothing_to_tell" });
  });

  test("without a live handler the notice is added, and starts no turn", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    await launch(one, parent, world.script(gate("held"), say("x")));
    await one.host.gate("held").reachedBy(1);
    await one.kill();
    await two.supervisor.recover();
    await notices(two, parent, "delivered", 1);
    expect([world.told(parent), world.turns(parent)]).toEqual([["told task#0 ended"], 0]);
    expect(await two.host.statuses()).toEqual(new Map());
  });

  test("the process that saw the parent's last message delivers, and starts a turn", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await launch(one, parent, world.script(gate("held"), say("x")));
    await handles(two, parent);
    const senders: string[] = [];
    const hear = (name: string) => (event: HostEvent) => {
      if (event.type === "message.added" && event.sessionId === parent) senders.push(name);
    };
    one.host.onEvent(hear("one"));
    two.host.onEvent(hear("two"));
    const woken = idle(two, parent);
    one.host.gate("held").open();
    await ended(one, task);
    await woken;
    expect([senders, world.turns(parent)]).toEqual([["two"], 1]);
  });

  for (const arrives of [true, false]) {
    test(`a group whose sender died during delivery is announced once (it had ${arrives ? "" : "not "}arrived)`, async () => {
      const world = newWorld();
      const sent = Promise.withResolvers<void>();
      const one = await world.side({
        host: (host) => ({
          async notify(sessionId, input) {
            if (arrives) await host.notify(sessionId, { ...input, wake: false });
            sent.resolve();
            await new Promise(() => undefined);
          },
        }),
      });
      const parent = world.parent();
      await ended(one, await launch(one, parent, world.script(say("x"))));
      await sent.promise;
      await one.kill();
      const two = await world.side();
      await two.supervisor.recover();
      const [delivered] = await notices(two, parent, "delivered", 1);
      expect(delivered?.attempts).toBe(arrives ? 1 : 2);
      expect(world.told(parent)).toEqual(["told task#0 ended"]);
    });
  }

  test("a group that may have arrived moves with its parent to the process that handles it now", async () => {
    const world = newWorld();
    const settings = { noticeRetryMs: NEVER };
    const notify = () => Promise.reject(new AsyncAgentsError("host_failed", "no answer within 30 s"));
    const one = await world.side({ settings, host: () => ({ notify }) });
    const two = await world.side({ settings });
    const parent = world.parent();
    const { id } = await ended(one, await launch(one, parent, world.script(say("x"))));
    await eventually(one.store, async () => ((await one.store.lastNotice(id))?.reason ? true : null));
    await handles(two, parent);
    await notices(two, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  });

  test("and so does one whose failure could not even be written", async () => {
    const world = newWorld();
    const settings = { noticeRetryMs: 5, pollMs: 5 };
    const notify = () => Promise.reject(new AsyncAgentsError("host_failed", "no answer within 30 s"));
    const one = await world.side({ settings, host: () => ({ notify }) });
    const two = await world.side({ settings });
    const parent = world.parent();
    const { settleNotices } = one.store;
    const failed = Promise.withResolvers<void>();
    const moved = Promise.withResolvers<void>();
    one.store.settleNotices = async () => {
      one.store.settleNotices = settleNotices;
      failed.resolve();
      await moved.promise;
      throw new AsyncAgentsError("store_unavailable", "the disk is full");
    };
    await launch(one, parent, world.script(say("x")));
    await failed.promise;
    await handles(two, parent);
    await two.supervisor.recover();
    moved.resolve();
    await notices(two, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  });

  test("a group that another process is sending is taken over when that one dies, though nothing else is left of it", async () => {
    const world = newWorld();
    let isReady = false;
    const one = await world.side({
      settings: { noticeRetryMs: NEVER, pollMs: 5 },
      host: (host) => ({
        notify: (...given) => (isReady ? host.notify(...given) : Promise.reject(refusal("not now"))),
      }),
    });
    // It is alone, so it watches nobody.
    await one.supervisor.recover();
    const { parentsWithNotices } = one.store;
    const toldAll = Promise.withResolvers<void>();
    one.store.parentsWithNotices = (...given) => parentsWithNotices(...given).finally(toldAll.resolve);
    const parent = world.parent();
    await handles(one, parent);
    const { id } = await ended(one, await launch(one, parent, world.script(say("x"))));
    await eventually(one.store, async () => ((await one.store.lastNotice(id))?.reason ? true : null));
    // It looks for notices once more after an end; from then on nothing makes it look.
    await toldAll.promise;
    isReady = true;
    const two = await world.side();
    const claim = { sender: two.id, messageId: two.host.newMessageId(), counts: true, freshOnly: false };
    expect(await two.store.claimNotices(parent, { ...claim, limit: 10, aloneAfter: 5 })).toHaveLength(1);
    const { instances } = one.store;
    const looked = Promise.withResolvers<void>();
    one.store.instances = () => instances().finally(looked.resolve);
    await handles(one, parent);
    await looked.promise;
    // It has judged by then that the other one lives.
    await new Promise((resolve) => setImmediate(resolve));
    await two.kill();
    await notices(one, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  });

  test("a group whose sender came back in time, and gave it up later, is sent by the process that handles the parent", async () => {
    const world = newWorld();
    let isReady = false;
    const side = await world.side({
      settings: { noticeRetryMs: NEVER },
      host: (host) => ({
        notify: (...given) =>
          isReady
            ? host.notify(...given)
            : Promise.reject(new AsyncAgentsError("host_failed", "no answer within 30 s")),
      }),
    });
    await side.supervisor.recover();
    const { parentsWithNotices, reclaimNotices } = side.store;
    const toldAll = Promise.withResolvers<void>();
    side.store.parentsWithNotices = (...given) => parentsWithNotices(...given).finally(toldAll.resolve);
    const parent = world.parent();
    const { id } = await ended(side, await launch(side, parent, world.script(say("x"))));
    await eventually(side.store, async () => ((await side.store.lastNotice(id))?.reason ? true : null));
    // It looks for notices once more after an end; from then on nothing makes it look.
    await toldAll.promise;
    isReady = true;
    side.store.reclaimNotices = async () => {
      side.store.reclaimNotices = reclaimNotices;
      return [];
    };
    await handles(side, parent);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  }, 20_000);

  test("a group that may have arrived is dropped once its parent is gone", async () => {
    const world = newWorld();
    const notify = () => Promise.reject(new AsyncAgentsError("host_failed", "no answer within 30 s"));
    const side = await world.side({ settings: { noticeRetryMs: NEVER }, host: () => ({ notify }) });
    const parent = world.parent();
    const { id } = await ended(side, await launch(side, parent, world.script(say("x"))));
    await eventually(side.store, async () => ((await side.store.lastNotice(id))?.reason ? true : null));
    world.sessions.remove(parent);
    await handles(side, parent);
    const [dropped] = await notices(side, parent, "dropped", 1);
    expect(dropped?.reason).toBe("the parent session does not exist any more");
  });

  test("a restart notifies every parent, however many fit into a single read", async () => {
    const world = newWorld();
    const one = await world.side({ host: () => ({ notify: () => new Promise(() => undefined) }) });
    const parents = Array.from({ length: 5 }, () => world.parent());
    for (const parent of parents) await ended(one, await launch(one, parent, world.script(say("x"))));
    await one.kill();
    const two = await world.side();
    const { parentsWithNotices } = two.store;
    two.store.parentsWithNotices = async (after) => (await parentsWithNotices(after)).slice(0, 2);
    await two.supervisor.recover();
    for (const parent of parents) await notices(two, parent, "delivered", 1);
  });

  test("a resume is announced as a separate run", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("one"))));
    await notices(side, parent, "delivered", 1);
    await ended(side, await side.engine.resume(callerOf(parent), task.id, world.script(say("two"))));
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 ended", "told task#1 ended"]);
  });
});
