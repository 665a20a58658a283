import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, rmdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PERSON } from "../../../src/engine/launch.ts";
import { editTask, type TaskEdit } from "../../../src/engine/queue/after.ts";
import { Slots } from "../../../src/engine/runs/slots.ts";
import { fail, gate, say } from "../../../src/hosts/scripted/script.ts";
import type { IfFailed } from "../../../src/model/after.ts";
import { awaitsOthers, type Task } from "../../../src/model/task.ts";
import { callerOf, codeOf, ended, launch, newWorld, notices, type Side, type World, when } from "../engine-bed.ts";

const prompts = (world: World, sessionId: string) =>
  world.messages(sessionId).flatMap((message) => (message.role === "user" ? [message.text] : []));

function next(side: Side, parent: string, prompt: string, tasks: readonly Task[], ifFailed: IfFailed = "skip") {
  const after = { tasks: tasks.map(({ id }) => id), ifFailed };
  return launch(side, parent, prompt, { after, description: `after ${tasks.length}` });
}

const edit = (world: World, side: Side, task: Task, change: TaskEdit) =>
  editTask({ store: side.store, now: world.now }, task, change, { isOwner: true });

describe("a task that starts after others", () => {
  test("counts as one of those that wait: of these there may be only so many", async () => {
    const world = newWorld();
    const side = await world.side({ slots: new Slots(1, 2) });
    const parent = world.parent();
    const one = await launch(side, parent, world.script(gate("one"), say("1")));
    for (const text of ["2", "3"]) await next(side, parent, world.script(say(text)), [one]);
    expect(await codeOf(next(side, parent, world.script(say("4")), [one]))).toBe("too_many_tasks");
    side.host.gate("one").open();
    await ended(side, one);
  });

  test("waits without a session, starts once when the last one has ended, and is given the results", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const one = await launch(side, parent, world.script(gate("one"), say("first {{result:x}} words")));
    const two = await launch(side, parent, world.script(gate("two"), say("second")));
    const marker = world.script(say("summed up"));
    const text = `${marker} Sum up {{result:${one.id}}} and {{result:${two.id}}}`;
    const task = await next(side, parent, text, [one, two]);
    expect(task).toMatchObject({ phase: "queued", phaseDetail: { kind: "after" }, sessionId: "", owner: null });
    expect([task.id.startsWith("tsk_"), task.batchId]).toEqual([true, one.batchId]);
    side.host.gate("one").open();
    await ended(side, one);
    expect(awaitsOthers((await side.store.task(task.id)) ?? task)).toBe(true);
    side.host.gate("two").open();
    const done = await ended(side, task);
    expect(done).toMatchObject({ status: "completed", run: { result: "summed up", prompt: text } });
    const sent = prompts(world, done.sessionId);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toContain(`--- result of task ${one.id}, quoted until`);
    expect(sent[0]).toContain("\nfirst {{result:x}} words\n--- end of quote");
    expect(sent[0]).toContain("\nsecond\n--- end of quote");
    expect(done.run.startedAt).toBeGreaterThan(done.startedAt);
    await notices(side, parent, "delivered", 3);
    expect(world.told(parent).join().split("after 2#0 ended")).toHaveLength(2);
  });

  test("if one fails: skip tells the parent that it was not run, run_anyway runs, wait waits for its resume", async () => {
    const world = newWorld();
    const side = await world.side({ settings: { resumable: ["error"] } });
    const parent = world.parent();
    const broken = await launch(side, parent, world.script(gate("it"), fail("no credit"), say("better now")));
    const skipped = await next(side, parent, world.script(say("never")), [broken]);
    const anyway = await next(side, parent, world.script(say("ran")), [broken], "run_anyway");
    const waiting = await next(side, parent, world.script(say("at last")), [broken], "wait");
    side.host.gate("it").open();
    const reason = `Not run: it was to start after task ${broken.id}, which failed.`;
    expect(await ended(side, skipped)).toMatchObject({ status: "cancelled", sessionId: "", run: { error: reason } });
    expect((await ended(side, anyway)).run.result).toBe("ran");
    const blocked = await when(side, waiting, ({ phase }) => phase === "waiting");
    expect(blocked.phaseDetail).toMatchObject({ kind: "blocked", by: broken.id });
    await notices(side, parent, "delivered", 4);
    const told = world.told(parent).join();
    expect([told.split("after 1#0 ended").length, told.split("after 1#0 waiting").length]).toEqual([3, 2]);
    await side.engine.resume(callerOf(parent), broken.id, world.script(say("better now")));
    expect((await ended(side, waiting)).run.result).toBe("at last");
  });

  test("a chain of launches of one message is one batch, and its notices wait for the whole chain", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const caller = callerOf(parent);
    const first = await launch(side, caller, world.script(gate("go"), say("1")), { wake: "all" });
    const after = { tasks: [first.id], ifFailed: "skip" } as const;
    const second = await launch(side, caller, world.script(say("2")), { wake: "all", after });
    expect(second.batchId).toBe(first.batchId);
    side.host.gate("go").open();
    await ended(side, second);
    await notices(side, parent, "delivered", 2);
    expect(world.told(parent)).toEqual(["told task#0 ended, task#0 ended"]);
  });

  test("a person's chain is one batch, too", async () => {
    const world = newWorld();
    const side = await world.side();
    const first = await launch(side, PERSON, world.script(say("1")));
    const second = await launch(side, PERSON, world.script(say("2")), {
      after: { tasks: [first.id], ifFailed: "skip" },
    });
    expect(second.batchId).toBe(first.batchId);
    expect((await ended(side, second)).run.result).toBe("2");
  });

  test("tasks that it launches are as deep as those of any other task", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const first = await launch(side, parent, world.script(say("1")));
    const second = await next(side, parent, world.script(gate("deep"), say("2")), [first]);
    await side.host.gate("deep").reachedBy(1);
    const { sessionId } = (await side.store.task(second.id)) ?? second;
    expect(sessionId).not.toBe(second.id);
    expect(await codeOf(launch(side, sessionId, "deeper"))).toBe("depth_exceeded");
    side.host.gate("deep").open();
    await ended(side, second);
  });

  test("is refused with unknown predecessors, too many, a result of another task, or as a fork", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const first = await launch(side, parent, world.script(gate("held"), say("1")));
    const start = (tasks: string[], prompt = "x", fields = {}) =>
      codeOf(launch(side, parent, prompt, { after: { tasks, ifFailed: "skip" }, ...fields }));
    expect(await start(["ses_unknown"])).toBe("task_not_found");
    expect(await start([first.id, "ses_unknown"])).toBe("task_not_found");
    expect(await start([first.id], "{{result:ses_other}}")).toBe("invalid_input");
    expect(await start([first.id], "x", { fork: true })).toBe("modes_exclusive");
    expect((await side.store.tasks({ parentSessionId: parent })).total).toBe(1);
    side.host.gate("held").open();
  });
});

test("a prompt that is sent at once asks for no result of a task; any other text in braces is the caller's", async () => {
  const world = newWorld();
  const side = await world.side();
  const parent = world.parent();
  const first = await launch(side, parent, world.script(say("1")));
  await ended(side, first);
  const short = first.id.slice(-8);
  for (const name of [first.id, short, "ses_gone", "tsk_gone"]) {
    expect(await codeOf(launch(side, parent, `Sum up {{result:${name}}}`))).toBe("invalid_input");
    expect(await codeOf(side.engine.resume(callerOf(parent), first.id, `{{result:${name}}}`))).toBe("invalid_input");
  }
  expect((await side.store.tasks({ parentSessionId: parent })).total).toBe(1);
  const prompt = `${world.script(say("2"))} What does {{result:ID}} or {{result:HANDLE}} mean?`;
  const task = await launch(side, parent, prompt);
  await ended(side, task);
  expect(prompts(world, task.sessionId)[0]).toContain("{{result:ID}} or {{result:HANDLE}}");
});

describe("a change before the start", () => {
  test("of the predecessors, the policy and the prompt counts; a started task is not changed", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const one = await launch(side, parent, world.script(gate("one"), say("1")));
    const two = await launch(side, parent, world.script(gate("two"), say("2")));
    const task = await next(side, parent, world.script(say("old")), [one]);
    const prompt = `${world.script(say("new"))} {{result:${two.id}}}`;
    expect(await codeOf(edit(world, side, task, { prompt }))).toBe("invalid_input");
    const changed = await edit(world, side, task, { after: [two.id], ifFailed: "wait", prompt });
    expect(changed.after).toEqual({ tasks: [two.id], ifFailed: "wait" });
    side.host.gate("two").open();
    const done = await ended(side, task);
    expect(done.run.result).toBe("new");
    expect(prompts(world, done.sessionId)[0]).toContain(`result of task ${two.id}`);
    expect(await codeOf(edit(world, side, task, { prompt: "later" }))).toBe("task_not_live");
    side.host.gate("one").open();
  });

  test("that would make tasks wait for each other is refused, however long the way", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const root = await launch(side, parent, world.script(gate("root"), say("0")));
    const a = await next(side, parent, world.script(say("a")), [root]);
    const b = await next(side, parent, world.script(say("b")), [a]);
    const c = await next(side, parent, world.script(say("c")), [b, root]);
    for (const task of [a, b, c]) {
      const changed = edit(world, side, a, { after: [root.id, task.id] });
      expect(await changed.catch((thrown: Error) => thrown.message)).toContain("would wait for each other for ever");
    }
    expect((await side.store.task(a.id))?.after?.tasks).toEqual([root.id]);
    expect(await codeOf(edit(world, side, a, { after: Array.from({ length: 101 }, (_, i) => `t${i}`) }))).toBe(
      "invalid_input",
    );
    side.host.gate("root").open();
    expect((await ended(side, c)).run.result).toBe("c");
  });

  test("to run anyway starts a blocked task, and to wait for nothing starts one at once", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const broken = await launch(side, parent, world.script(fail("no")));
    const blocked = await next(side, parent, world.script(say("all the same")), [broken], "wait");
    await when(side, blocked, ({ phase }) => phase === "waiting");
    await edit(world, side, blocked, { ifFailed: "run_anyway" });
    expect((await ended(side, blocked)).run.result).toBe("all the same");
    const slow = await launch(side, parent, world.script(gate("slow"), say("1")));
    const task = await next(side, parent, world.script(say("now")), [slow]);
    await edit(world, side, task, { after: [] });
    expect(await ended(side, task)).toMatchObject({ after: null, run: { result: "now" } });
    side.host.gate("slow").open();
  });

  test("a cancelled one ends at once, and those that wait for it are judged", async () => {
    const world = newWorld();
    const side = await world.side();
    const parent = world.parent();
    const slow = await launch(side, parent, world.script(gate("slow"), say("1")));
    const task = await next(side, parent, world.script(say("never")), [slow]);
    const last = await next(side, parent, world.script(say("never")), [task]);
    const { task: cancelled } = await side.engine.cancelTask(task, "enough");
    expect([cancelled.status, cancelled.run.error]).toEqual(["cancelled", "enough"]);
    expect((await ended(side, last)).run.error).toBe(
      `Not run: it was to start after task ${task.id}, which was cancelled.`,
    );
    side.host.gate("slow").open();
  });
});

describe("after the death of processes", () => {
  test("what became startable is started once by the next process that has the folder open", async () => {
    const world = newWorld();
    const dying = await world.side();
    const parent = world.parent();
    const first = await launch(dying, parent, world.script(gate("first"), say("1")));
    const task = await next(dying, parent, world.script(say("once")), [first]);
    await dying.host.gate("first").reachedBy(1);
    await dying.kill();
    const sides = [await world.side(), await world.side(), await world.side({ directory: "/elsewhere" })];
    const [side] = sides;
    if (!side) throw new Error("no side");
    // The first run was interrupted, so its successor is skipped: nothing is pretended.
    for (const each of sides) await each.supervisor.recover();
    expect((await ended(side, task)).run.error).toContain("which failed");
    const anyway = await next(side, parent, world.script(say("once")), [first], "run_anyway");
    expect(await ended(side, anyway)).toMatchObject({ status: "completed", directory: "/work" });
    const made = world.sessions.all().filter(({ launchId }) => launchId?.startsWith(anyway.id));
    expect(made).toHaveLength(1);
  });

  test("a process that opens hosts itself opens the folder, if nobody has it open", async () => {
    const world = newWorld();
    const dying = await world.side();
    const first = await launch(dying, PERSON, world.script(gate("first"), say("1")));
    const after = { tasks: [first.id], ifFailed: "run_anyway" } as const;
    const task = await launch(dying, PERSON, world.script(say("by another")), { after });
    await dying.host.gate("first").reachedBy(1);
    await dying.kill();
    const opened: string[] = [];
    const daemon: Side = await world.side({
      directory: "/daemon",
      opener: {
        has: (host) => host === "scripted",
        async open(_host, directory) {
          opened.push(directory);
          return (await world.side({ directory, supervisor: daemon.supervisor })).engine;
        },
      },
    });
    await daemon.supervisor.recover();
    expect((await ended(daemon, task)).run.result).toBe("by another");
    expect(opened).toEqual(["/work"]);
  });

  test("a folder that leads elsewhere by then is not opened: the task ends, and says why", async () => {
    const world = newWorld();
    const directory = join(realpathSync(world.directory), "work");
    mkdirSync(directory);
    const dying = await world.side({ directory });
    const first = await launch(dying, PERSON, world.script(gate("first"), say("1")));
    const after = { tasks: [first.id], ifFailed: "run_anyway" } as const;
    const task = await launch(dying, PERSON, world.script(say("elsewhere")), { after });
    await dying.host.gate("first").reachedBy(1);
    await dying.kill();
    rmdirSync(directory);
    symlinkSync(tmpdir(), directory);
    const opened: string[] = [];
    const opener = {
      has: () => true,
      open: async (_host: string, folder: string) => {
        opened.push(folder);
        throw new Error("not to be opened");
      },
    };
    const daemon = await world.side({ directory: "/daemon", opener });
    await daemon.supervisor.recover();
    const { status, run } = await ended(daemon, task);
    expect([status, run.error]).toEqual(["error", expect.stringContaining(`${directory} leads somewhere else now`)]);
    expect(opened).toEqual([]);
  });
});

test("a folder that is replaced while its host is open is not worked in", async () => {
  const world = newWorld();
  const directory = join(realpathSync(world.directory), "work");
  mkdirSync(directory);
  const side = await world.side({ directory });
  const first = await launch(side, PERSON, world.script(gate("first"), say("1")));
  const after = { tasks: [first.id], ifFailed: "skip" } as const;
  const task = await launch(side, PERSON, world.script(say("elsewhere")), { after });
  rmdirSync(directory);
  symlinkSync(tmpdir(), directory);
  side.host.gate("first").open();
  const { sessionId, run } = await ended(side, task);
  expect([sessionId, run.error]).toEqual(["", expect.stringContaining("a link took its place")]);
});
