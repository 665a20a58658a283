import { describe, expect, test } from "bun:test";
import { call, delegate, empty, fail, gate, say } from "../../src/hosts/scripted/script.ts";
import { FORK_PREAMBLE } from "../../src/model/condense.ts";
import { NO_OUTPUT } from "../../src/model/evidence.ts";
import { callerOf, codeOf, ended, launch, newWorld, notices } from "./engine-bed.ts";

describe("launch", () => {
  test("a task runs beside its parent and ends with its answer [PD-01]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await launch(side, parent, world.script(gate("door"), call("bash"), say("found it")));
    expect(task).toMatchObject({ status: "running", phase: "starting", owner: side.id, run: { number: 0 } });
    expect(task.id).toBe(task.sessionId);
    await side.host.gate("door").reachedBy(1);
    side.host.gate("door").open();
    const done = await ended(side, task);
    expect(done).toMatchObject({ status: "completed", phase: null, owner: null, run: { result: "found it" } });
    expect(done.progress).toMatchObject({ toolCalls: 1, lastTools: ["bash"] });
  });

  test("an error and an empty answer end the task truthfully [AT-F-07]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const failed = await ended(side, await launch(side, parent, world.script(fail("no credit"))));
    const silent = await ended(side, await launch(side, parent, world.script(empty())));
    expect([failed.status, failed.run.error]).toEqual(["error", "no credit"]);
    expect([silent.status, silent.run.error]).toEqual(["error", NO_OUTPUT]);
    expect(await side.host.exists(silent.sessionId)).toBe(true);
  });

  test("a fork gets the history, condensed and announced, before its prompt", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    await side.host.notify(parent, {
      messageId: "msg_0",
      visible: "history",
      hidden: "",
      wake: false,
      agent: null,
      model: null,
      variant: null,
    });
    const prompt = world.script(say("done"));
    const task = await ended(side, await launch(side, callerOf(parent, "msg_none"), prompt, { fork: true }));
    expect(task).toMatchObject({ isForked: true, status: "completed" });
    const shown = world.messages(task.sessionId).map((each) => (each.role === "user" ? each.hidden || each.text : "…"));
    expect(shown).toEqual(["history", FORK_PREAMBLE, prompt, "…"]);
  });

  test("a rejected launch creates nothing", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const sessions = world.sessions.all().length;
    for (const [fields, code] of [
      [{ description: " " }, "invalid_input"],
      [{ prompt: "" }, "invalid_input"],
      [{ prompt: "x".repeat(200_001) }, "invalid_input"],
      [{ batch: "not a name" }, "invalid_input"],
      [{ agent: "nobody" }, "unknown_agent"],
      [{ agent: "x".repeat(201) }, "invalid_input"],
      [{ model: `p/${"x".repeat(199)}` }, "invalid_input"],
    ] as const) {
      const { prompt = "go", ...rest } = { ...fields } as { prompt?: string };
      expect(await codeOf(launch(side, parent, prompt, rest))).toBe(code);
    }
    expect(await codeOf(launch(side, "ses_gone", "go"))).toBe("session_gone");
    expect(world.sessions.all()).toHaveLength(sessions);
    expect([(await side.store.tasks({})).total, (await side.store.launches()).length]).toEqual([0, 0]);
  });

  test("by default a task launches none; maxDepth raises that, and our tools disappear at the limit", async () => {
    const world = newWorld();
    const shallow = await world.side();
    const deep = await world.side({ settings: { maxDepth: 2, ownTools: ["asyncagents_task"] } });
    const first = await launch(deep, world.parent(), world.script(gate("first"), say("x")));
    expect(await codeOf(launch(shallow, first.sessionId, "go"))).toBe("depth_exceeded");
    const second = await launch(deep, first.sessionId, world.script(gate("second"), say("x")));
    expect(await codeOf(launch(deep, second.sessionId, "go"))).toBe("depth_exceeded");
    expect(world.sessions.get(first.sessionId).denyTools).toEqual([]);
    expect(world.sessions.get(second.sessionId).denyTools).toEqual(["asyncagents_task"]);
  });

  test("what a task's agent opens by itself is as deep as the task", async () => {
    const world = newWorld();
    const side = await world.side();
    world.sessions.script("inner", [gate("inside"), say("inner")]);
    let inner = "";
    side.host.onEvent((event) => {
      if (event.type === "session.opened") inner = event.sessionId;
    });
    const task = await launch(side, world.parent(), world.script(delegate("inner"), say("x")));
    await side.host.gate("inside").reachedBy(1);
    expect([inner !== task.sessionId, await side.engine.depthOf(inner)]).toEqual([true, 1]);
    expect(await codeOf(launch(side, inner, "go"))).toBe("depth_exceeded");
    side.host.gate("inside").open();
    await ended(side, task);
  });
});

describe("batches", () => {
  test("one message is one batch; a later one joins while a task is live, and opens another afterwards [AT-05.1, BT-05.1]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const caller = callerOf(parent);
    const first = await launch(side, caller, world.script(say("x")));
    await ended(side, first);
    const same = await launch(side, caller, world.script(gate("open"), say("x")));
    const later = await launch(side, parent, world.script(say("x")));
    const stranger = await launch(side, world.parent(), world.script(say("x")));
    expect([same.batchId, later.batchId]).toEqual([first.batchId, first.batchId]);
    expect(stranger.batchId).not.toBe(first.batchId);
    side.host.gate("open").open();
    await Promise.all([ended(side, same), ended(side, later)]);
    const fresh = await launch(side, parent, world.script(say("x")));
    expect(fresh.batchId).not.toBe(first.batchId);
  });

  test("concurrent launches from one message share their batch", async () => {
    const world = newWorld();
    const side = await world.side();
    const caller = callerOf(world.parent());
    const tasks = await Promise.all(Array.from({ length: 8 }, () => launch(side, caller, world.script(say("x")))));
    expect(new Set(tasks.map((task) => task.batchId)).size).toBe(1);
  });

  test("a name belongs to its parent; cancel ends that batch and no other [AT-F-09]", async () => {
    const world = newWorld();
    const side = await world.side();
    const [one, two] = [world.parent(), world.parent()];
    const held = () => world.script(gate("held"), say("x"));
    const mine = await launch(side, one, held(), { batch: "night" });
    const other = await launch(side, one, held(), { batch: "day" });
    const theirs = await launch(side, two, held(), { batch: "night" });
    expect(mine.batchId).not.toBe(theirs.batchId);
    const cancelled = await side.engine.cancelBatch(one, "night");
    expect(cancelled.map(({ task }) => [task.id, task.status])).toEqual([[mine.id, "cancelled"]]);
    const statuses = await Promise.all([other, theirs].map(async ({ id }) => (await side.store.task(id))?.status));
    expect(statuses).toEqual(["running", "running"]);
    expect(await codeOf(side.engine.cancelBatch(two, "day"))).toBe("task_not_found");
    expect(await codeOf(side.engine.cancelBatch(two, mine.batchId))).toBe("task_not_found");
  });
});

describe("find", () => {
  test("a full id or a unique prefix of one's own; another parent's is rejected", async () => {
    const world = newWorld();
    const side = await world.side();
    const [one, two] = [world.parent(), world.parent()];
    const [first, second] = [await launch(side, one, "a"), await launch(side, one, "b")];
    const foreign = await launch(side, two, "c");
    expect((await side.engine.find(one, ` ${first.id} `)).id).toBe(first.id);
    expect(await codeOf(side.engine.find(one, "ses_"))).toBe("task_ambiguous");
    expect((await side.engine.find(two, "ses_")).id).toBe(foreign.id);
    expect(await codeOf(side.engine.find(one, foreign.id))).toBe("not_allowed");
    expect(await codeOf(side.engine.cancel(one, foreign.id))).toBe("not_allowed");
    expect(await codeOf(side.engine.output(two, second.id, null))).toBe("not_allowed");
    expect(await codeOf(side.engine.find(one, "%"))).toBe("task_not_found");
    expect(await codeOf(side.engine.find(one, " "))).toBe("invalid_input");
  });
});

describe("resume", () => {
  test("continues in the same session and keeps counting [AT-07.1, BT-07.1]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(call("bash"), say("one"))));
    const resumed = await side.engine.resume(callerOf(parent), task.id, world.script(call("read"), say("two")));
    expect(resumed).toMatchObject({ status: "resumed", sessionId: task.sessionId, run: { number: 1 } });
    const done = await ended(side, resumed);
    expect(done).toMatchObject({ status: "completed", run: { number: 1, result: "two" } });
    expect(done.progress.toolCallsByName).toEqual({ bash: 1, read: 1 });
    expect((await side.store.run(task.id, 0))?.result).toBe("one");
  });

  test("is rejected for each state with its own error, and changes nothing [BT-06.4, BT-06.5]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const caller = callerOf(parent);
    const resume = (id: string) => codeOf(side.engine.resume(caller, id, world.script(gate("resumed"), say("x"))));
    const running = await launch(side, parent, world.script(gate("held"), say("x")));
    const failed = await ended(side, await launch(side, parent, world.script(fail("broken"))));
    const completed = await ended(side, await launch(side, parent, world.script(say("done"))));
    const gone = await ended(side, await launch(side, parent, world.script(say("done"))));
    expect(await resume(running.id)).toBe("task_running");
    expect(await resume(failed.id)).toBe("task_not_resumable");
    expect(await resume("ses_unknown")).toBe("task_not_found");
    const queued = { prompt: world.script(say("twice")), followUpId: "taken by somebody else" };
    expect(await codeOf(side.engine.resumeTask(completed, queued))).toBe("follow_up_gone");
    expect(await side.store.task(completed.id)).toEqual(completed);
    expect(await resume(completed.id)).toBe("none");
    expect(await resume(completed.id)).toBe("task_resuming");
    await side.host.deleteSession(gone.sessionId);
    expect(await resume(gone.id)).toBe("session_gone");
    expect(await codeOf(side.engine.resume(caller, gone.id, ""))).toBe("invalid_input");
    await side.engine.cancel(parent, running.id);
    expect(await resume(running.id)).toBe("task_not_resumable");
    expect((await side.store.task(gone.id))?.run.number).toBe(0);
  });

  test("two at once: one resumes, the other is rejected", async () => {
    const world = newWorld();
    const [one, two] = [await world.side(), await world.side()];
    const parent = world.parent();
    const task = await ended(one, await launch(one, parent, world.script(say("done"))));
    const prompt = world.script(gate("once"), say("again"));
    const codes = await Promise.all(
      [one, two].map((side) => codeOf(side.engine.resume(callerOf(parent), task.id, prompt))),
    );
    expect(codes.toSorted()).toEqual(["none", "task_resuming"]);
    expect((await one.store.task(task.id))?.run.number).toBe(1);
  });

  test("an option allows failed and cancelled tasks to be resumed", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { resumable: ["error"] } });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(fail("broken"))));
    const resumed = await side.engine.resume(callerOf(parent), task.id, world.script(say("mended")));
    expect(await ended(side, resumed)).toMatchObject({ status: "completed", run: { result: "mended", error: null } });
  });
});

describe("clear", () => {
  test("cancels what runs, empties the view, and keeps the history resumable [PD-04]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const done = await ended(side, await launch(side, parent, world.script(say("done"))));
    const running = await launch(side, parent, world.script(gate("held"), say("x")));
    const other = await launch(side, world.parent(), world.script(gate("held"), say("x")));
    expect(await side.engine.clear(parent)).toEqual({ cleared: 2, cancelled: 1 });
    expect((await side.engine.list(parent, { limit: 10, offset: 0 })).total).toBe(0);
    expect((await side.store.task(running.id))?.status).toBe("cancelled");
    expect((await side.store.task(other.id))?.status).toBe("running");
    expect(await side.engine.clear(parent)).toEqual({ cleared: 0, cancelled: 0 });
    const resumed = await side.engine.resume(callerOf(parent), done.id, world.script(say("back")));
    expect((await side.engine.list(parent, { limit: 10, offset: 0 })).tasks.map(({ id }) => id)).toEqual([done.id]);
    await ended(side, resumed);
  });

  test("a deleted parent: its tasks are cancelled and leave the view, and nobody is told [AT-F-08]", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const child = await launch(side, parent, world.script(gate("held"), say("x")));
    const fork = await launch(side, parent, world.script(gate("held"), say("x")), { fork: true });
    await side.host.gate("held").reachedBy(2);
    await side.host.deleteSession(parent);
    expect((await ended(side, child)).status).toBe("cancelled");
    expect((await ended(side, fork)).status).toBe("cancelled");
    expect(await side.host.statuses()).toEqual(new Map());
    const dropped = await notices(side, parent, "dropped", 2);
    expect(dropped.map((notice) => notice.taskId).toSorted()).toEqual([child.id, fork.id].toSorted());
  });
});
