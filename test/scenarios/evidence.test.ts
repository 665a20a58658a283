/**
 * A run ends only on its own evidence, on the real OpenCode: missed, late and false signals do not change the
 * outcome.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Task } from "../../src/model/task.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, cut, empty, fail, gate, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

const unreliable = pathToFileURL(join(import.meta.dir, "plugins/unreliable-plugin.ts")).href;
const model = startOpenAiModel();
afterAll(() => model.stop());

describe("with every idle of a task missed", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ model, plugin: unreliable, options: { drop: true } });
  });
  afterAll(() => world?.stop());

  test("the poll finds the end, and the parent gets the whole result [AT-08.2, BT-08.2]", async () => {
    const parent = await world.parent();
    const id = await parent.launch([call("read", { filePath: "README.md" }), say("found by the poll")]);
    const notice = await parent.notice(id);
    expect((await world.task(id)).status).toBe("completed");
    expect(notice.hidden).toContain("found by the poll");
  });

  test("the poll finds failures and empty ends too", async () => {
    const parent = await world.parent();
    const [failed, nothing] = await parent.launchAll([[fail(400, "no way")], [empty()]]);
    expect((await world.ended(failed ?? "")).run.error).toContain("no way");
    expect((await world.ended(nothing ?? "")).run.error).toContain("ended without output");
  });
});

describe("signals that are not evidence", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ model, plugin: unreliable, options: { late: true } });
  });
  afterAll(() => world?.stop());

  test("an idle of an earlier run, after an error, or with nothing done completes no run [AT-F-07]", async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("first")]);
    await parent.notice(id);
    await parent.ask("task", { resume: id, prompt: `${world.script(gate("late"), say("second"))} more` });
    await model.gate("late").reached;
    const idles = world.opencode.events.filter((event) => event.type === "session.idle").length;
    await parent.ask("list");
    expect(world.opencode.events.filter((event) => event.type === "session.idle").length).toBeGreaterThan(idles);
    expect((await world.task(id)).status).toBe("resumed");
    model.gate("late").open();
    const resumed = await world.ended(id);
    expect([resumed.status, resumed.run.result]).toEqual(["completed", "second"]);

    const failed = await world.ended(await parent.launch([fail(400, "refused")]));
    expect([failed.status, failed.run.result]).toEqual(["error", null]);
    const nothing = await world.ended(await parent.launch([empty()]));
    expect([nothing.status, nothing.run.result]).toEqual(["error", null]);
    expect(nothing.run.error).toContain("ended without output");
    expect(await world.opencode.client.session(nothing.id)).toBeDefined();
  });

  test("a person who types in a task's session starts no run and overwrites no result", async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("the task's own")]);
    await parent.notice(id);
    await world.opencode.prompt(id, `${world.script(say("said to a person"))} hello`);
    const task = await world.task(id);
    expect([task.status, task.run.number, task.run.result]).toEqual(["completed", 0, "the task's own"]);
    expect((await parent.notices()).length).toBe(1);
  });

  test("a broken stream is not an end", async () => {
    const parent = await world.parent();
    const task = await world.ended(await parent.launch([cut("half of"), say("the whole answer")]));
    expect([task.status, task.run.result]).toEqual(["completed", "the whole answer"]);
  });

  test("work without a text completes", async () => {
    const parent = await world.parent();
    const task = await world.ended(await parent.launch([call("read", { filePath: "README.md" }), empty()]));
    expect([task.status, task.run.result]).toEqual(["completed", ""]);
    expect((await parent.notice(task.id)).hidden).toContain("completed without a text");
  });

  test("the last update moves while a task is active and stands still while it is not [AT-F-10]", async () => {
    const parent = await world.parent();
    const read = call("read", { filePath: "README.md" });
    const id = await parent.launch([read, gate("still"), read, gate("still again"), say("done")]);
    await model.gate("still").reached;
    const isCounted = ({ progress }: Task) => progress.toolCalls === 1 && progress.tokens.input > 0;
    await world.until(id, isCounted, "the first call and its tokens");
    // OpenCode reports the end of the step more than once; after one more turn of the parent that is over.
    await parent.ask("list");
    const first = await world.task(id);
    await parent.ask("list");
    await parent.ask("output", { task_id: id });
    expect((await world.task(id)).progress.lastUpdate).toBe(first.progress.lastUpdate);
    model.gate("still").open();
    await model.gate("still again").reached;
    const second = await world.until(id, (task) => task.progress.toolCalls === 2, "the second call");
    expect(second.progress.lastUpdate).toBeGreaterThan(first.progress.lastUpdate);
    model.gate("still again").open();
    await world.ended(id);
  });
});
