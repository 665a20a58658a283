import { describe, expect, test } from "bun:test";
import type { HostEvent } from "../../../src/hosts/host.ts";
import { ask, call, gate, retry, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { NO_OUTPUT } from "../../../src/model/evidence.ts";
import { callerOf, ended, heard, idle, launch, newWorld, notices, when, without } from "../engine-bed.ts";

const GRANTED = { kind: "permission", decision: "once", message: null } as const;
const REFUSED = { kind: "permission", decision: "reject", message: null } as const;

/** Counts status calls, with their times, and lets a test wait for them. */
function counted() {
  const times: number[] = [];
  const watchers = new Set<() => void>();
  return {
    times,
    host: (host: ScriptedHost) => ({
      statuses: () => {
        times.push(performance.now());
        for (const check of [...watchers]) check();
        return host.statuses();
      },
    }),
    /** Resolves after this many more calls. */
    more(count: number): Promise<void> {
      const wanted = times.length + count;
      return new Promise((resolve) => {
        const check = () => {
          if (times.length < wanted) return;
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
      });
    },
  };
}

describe("completion", () => {
  test("a missed idle is found by the poll [AT-08.2, BT-08.2]", async () => {
    const world = newWorld();
    const side = await world.side({ host: without("session.idle"), settings: { pollMs: 20 } });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(say("done")));
    expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "done" } });
    await notices(side, parent, "delivered", 1);
  });

  test("however many tasks run, there is at most one status call per pollMs", async () => {
    const world = newWorld();
    const statuses = counted();
    const pollMs = 40;
    const side = await world.side({
      host: (host) => ({ ...without("session.idle")(host), ...statuses.host(host) }),
      settings: { pollMs },
    });
    const parent = world.parent();
    const tasks = await Promise.all(
      Array.from({ length: 20 }, () => launch(side, parent, world.script(gate("held"), say("done")))),
    );
    await side.host.gate("held").reachedBy(tasks.length);
    await statuses.more(4);
    side.host.gate("held").open();
    await Promise.all(tasks.map((task) => ended(side, task)));
    const gaps = statuses.times.slice(1).map((time, index) => time - (statuses.times[index] ?? 0));
    // This test's clock moves with each read: what it moved in between is missing from a gap.
    expect(Math.min(...gaps)).toBeGreaterThan(pollMs / 2);
  });

  test("a status that was read just before the turn began does not end it", async () => {
    const world = newWorld();
    let stale = 1;
    const statuses = counted();
    const side = await world.side({
      host: (host) => {
        const real = statuses.host(host);
        return {
          async statuses() {
            const known = await real.statuses();
            return stale-- > 0 ? new Map() : known;
          },
        };
      },
      settings: { pollMs: 10 },
    });
    const asked = statuses.more(3);
    const task = await launch(side, world.parent(), world.script(gate("slow"), say("after all")));
    await side.host.gate("slow").reachedBy(1);
    await asked;
    expect(await side.store.task(task.id)).toMatchObject({ status: "running" });
    side.host.gate("slow").open();
    expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "after all" } });
  });

  test("an idle of an earlier run is not evidence [AT-F-07]", async () => {
    const world = newWorld();
    const statuses = counted();
    const listeners = new Set<(event: HostEvent) => void>();
    const side = await world.side({
      host: (host) => ({
        ...statuses.host(host),
        onEvent(listener) {
          listeners.add(listener);
          return host.onEvent(listener);
        },
      }),
      settings: { pollMs: 5 },
    });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("one"))));
    const resumed = await side.engine.resume(callerOf(parent), task.id, world.script(gate("held"), say("two")));
    await side.host.gate("held").reachedBy(1);
    for (const listener of listeners) listener({ type: "session.idle", sessionId: task.sessionId });
    await statuses.more(3);
    expect((await side.store.task(task.id))?.status).toBe("resumed");
    side.host.gate("held").open();
    expect(await ended(side, resumed)).toMatchObject({ status: "completed", run: { number: 1, result: "two" } });
  });

  test("nor is it together with a status that was read just before the turn began [AT-F-07]", async () => {
    const world = newWorld();
    const statuses = counted();
    const listeners = new Set<(event: HostEvent) => void>();
    let stale = 0;
    const side = await world.side({
      host: (host) => {
        const real = statuses.host(host);
        return {
          onEvent(listener) {
            listeners.add(listener);
            return host.onEvent(listener);
          },
          prompt(sessionId, input) {
            for (const listener of listeners) listener({ type: "session.idle", sessionId });
            return host.prompt(sessionId, input);
          },
          async statuses() {
            const known = await real.statuses();
            return stale-- > 0 ? new Map() : known;
          },
        };
      },
      settings: { pollMs: 10 },
    });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("one"))));
    const resumed = await side.engine.resume(callerOf(parent), task.id, world.script(gate("held"), say("two")));
    await side.host.gate("held").reachedBy(1);
    world.pass(1);
    stale = 1;
    await statuses.more(3);
    expect((await side.store.task(task.id))?.status).toBe("resumed");
    side.host.gate("held").open();
    expect(await ended(side, resumed)).toMatchObject({ status: "completed", run: { number: 1, result: "two" } });
  });

  test("a host that accepts a prompt but does not start is given time, and then reported truthfully", async () => {
    const world = newWorld();
    const statuses = counted();
    const side = await world.side({
      host: (host) => ({ ...statuses.host(host), prompt: async () => undefined }),
      settings: { pollMs: 5 },
    });
    const task = await launch(side, world.parent(), "never begun");
    await statuses.more(5);
    expect((await side.store.task(task.id))?.status).toBe("running");
    world.pass(30_000);
    expect(await ended(side, task)).toMatchObject({ status: "error", run: { error: NO_OUTPUT } });
  });

  test("a prompt that the host rejects ends the task with the host's message", async () => {
    const world = newWorld();
    const refusal = new AsyncAgentsError("host_failed", "no room", { details: { refused: true } });
    const side = await world.side({ host: () => ({ prompt: () => Promise.reject(refusal) }) });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, "go"));
    expect([task.status, task.run.error]).toEqual(["error", "no room"]);
    await notices(side, parent, "delivered", 1);
  });

  test("when the host's program dies and its session cannot be read for a while, the run ends as that shows afterwards", async () => {
    const world = newWorld();
    const voice = heard();
    let failures = 0;
    const side = await world.side({
      host: (host) => ({
        ...voice.host(host),
        inspect: (sessionId: string, messageId: string) =>
          failures-- > 0 ? Promise.reject(new Error("connection refused")) : host.inspect(sessionId, messageId),
      }),
      settings: { pollMs: 5 },
    });
    const task = await launch(side, world.parent(), world.script(gate("held"), say("never")));
    await when(side, task, ({ phase }) => phase === "working");
    failures = 3;
    side.host.crash();
    voice.emit({ type: "host.ended", reason: "interrupted: its program was killed" });
    expect(await ended(side, task)).toMatchObject({
      status: "error",
      run: { error: "interrupted: its program was killed" },
    });
  });

  test("a failed status call is repeated", async () => {
    const world = newWorld();
    let failures = 2;
    const side = await world.side({
      host: (host) => ({
        ...without("session.idle")(host),
        statuses: () => (failures-- > 0 ? Promise.reject(new Error("busy")) : host.statuses()),
      }),
      settings: { pollMs: 5 },
    });
    const task = await launch(side, world.parent(), world.script(say("done")));
    expect((await ended(side, task)).status).toBe("completed");
  });

  test("what a person types in the session afterwards overwrites nothing", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("ours"))));
    await notices(side, parent, "delivered", 1);
    const over = idle(side, task.sessionId);
    const typed = { messageId: side.host.newMessageId(), text: world.script(call("bash"), say("theirs")) };
    await side.host.prompt(task.sessionId, { ...typed, agent: "general", model: null });
    await over;
    expect(await side.store.task(task.id)).toEqual(task);
    expect(world.told(parent)).toHaveLength(1);
  });
});

describe("phases", () => {
  test("a task that asks is waiting, which is announced once; an answer lets it continue", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(ask("permission", "rm -r"), say("thanks")));
    const waiting = await when(side, task, (now) => now.phase === "waiting");
    expect(waiting.phaseDetail).toMatchObject({ kind: "waiting", asks: "permission", text: "rm -r" });
    const [notice] = await notices(side, parent, "delivered", 1);
    expect(notice?.kind).toBe("waiting");
    expect((await side.engine.output(parent, task.id, {})).waited).toBe("reached");
    const detail = waiting.phaseDetail;
    if (detail?.kind === "waiting") expect(await side.host.answer(task.id, detail.requestId, GRANTED)).toBe(true);
    expect((await ended(side, task)).run.result).toBe("thanks");
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 waiting", "told task#0 ended"]);
  });

  test("a request that comes while the prompt is still being sent is kept", async () => {
    const world = newWorld();
    const handed = Promise.withResolvers<void>();
    const side = await world.side({
      host: (host) => ({
        async prompt(sessionId, input) {
          const asked = Promise.withResolvers<void>();
          host.onEvent((event) => event.type === "session.asked" && asked.resolve());
          await host.prompt(sessionId, input);
          await asked.promise;
          handed.resolve();
        },
      }),
    });
    const parent = world.parent();
    const task = await launch(side, parent, world.script(ask("permission", "rm -r"), say("thanks")));
    await handed.promise;
    // The notice is written after everything that the handover wrote.
    await notices(side, parent, "delivered", 1);
    expect((await side.store.task(task.id))?.phase).toBe("waiting");
  });

  test("two requests are two notices, and the phase is that of the open one", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const script = world.script(ask("permission", "one"), ask("question", "two"), say("thanks"));
    const task = await launch(side, parent, script);
    for (const text of ["one", "two"]) {
      const { phaseDetail } = await when(
        side,
        task,
        (now) => now.phaseDetail?.kind === "waiting" && now.phaseDetail.text === text,
      );
      const yes = text === "one" ? GRANTED : ({ kind: "question", answers: ["yes"] } as const);
      if (phaseDetail?.kind === "waiting") await side.host.answer(task.id, phaseDetail.requestId, yes);
    }
    await ended(side, task);
    await notices(side, parent, "delivered", 3);
    expect(
      world
        .told(parent)
        .join()
        .match(/waiting/g),
    ).toHaveLength(2);
  });

  test("a denied request ends the run where it stopped", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { pollMs: 5 } });
    const task = await launch(side, world.parent(), world.script(ask("permission", "rm -r"), say("unheard")));
    const { phaseDetail } = await when(side, task, (now) => now.phase === "waiting");
    if (phaseDetail?.kind === "waiting") await side.host.answer(task.id, phaseDetail.requestId, REFUSED);
    const done = await ended(side, task);
    expect([done.status, done.run.error]).toEqual(["error", "stopped at its call of permission: a person refused"]);
  });

  test("a provider that keeps failing is retrying, which is announced once", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(retry("overloaded", 6), gate("held"), say("recovered")));
    const { phaseDetail } = await when(
      side,
      task,
      (now) => now.phaseDetail?.kind === "retrying" && now.phaseDetail.count === 6,
    );
    expect(phaseDetail).toEqual({ kind: "retrying", reason: "overloaded", count: 6 });
    await notices(side, parent, "delivered", 1);
    side.host.gate("held").open();
    expect((await ended(side, task)).status).toBe("completed");
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 retrying", "told task#0 ended"]);
  });

  test("a single provider failure is normal: shown, but not announced", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(retry("hiccup", 1), gate("held"), say("fine")));
    await when(side, task, (now) => now.phase === "retrying");
    side.host.gate("held").open();
    await ended(side, task);
    await notices(side, parent, "delivered", 1);
    expect(world.told(parent)).toEqual(["told task#0 ended"]);
  });
});

describe("progress", () => {
  test("the last update moves while the task works and stands still while it does not [AT-F-10]", async () => {
    const world = newWorld();
    const statuses = counted();
    const side = await world.side({ host: statuses.host, settings: { pollMs: 10 } });
    const steps = [call("bash"), gate("first"), call("read"), gate("second"), say("done")];
    const task = await launch(side, world.parent(), world.script(...steps));
    const one = await when(side, task, (now) => now.progress.toolCalls === 1);
    await statuses.more(3);
    world.pass(60_000);
    await statuses.more(3);
    const still = await side.store.task(task.id);
    expect(still?.progress).toEqual(one.progress);
    side.host.gate("first").open();
    const two = await when(side, task, (now) => now.progress.toolCalls === 2);
    expect(two.progress.lastUpdate).toBeGreaterThan(one.progress.lastUpdate + 60_000);
    expect(two.progress).toMatchObject({ toolCallsByName: { bash: 1, read: 1 }, lastTools: ["bash", "read"] });
    side.host.gate("second").open();
    expect((await ended(side, task)).progress.tokens.input).toBe(300);
  });
});
