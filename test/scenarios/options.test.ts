/**
 * What users can configure, on the real OpenCode: the abort rule, what can be resumed, depth, limits, toasts, and
 * wrong settings.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, fail, gate, say } from "../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { type Parent, World } from "./world.ts";

const model = startOpenAiModel();
afterAll(() => model.stop());

/** A parent that launched a task and is held in its own turn by a gate. */
async function busyParent(world: World, name: string): Promise<{ parent: Parent; task: string }> {
  const parent = await world.parent();
  const task = await parent.launch([gate(`${name}-task`), say("done anyway")]);
  await world.opencode.promptAsync(parent.sessionId, `${world.script(gate(`${name}-turn`), say("never"))} hold`);
  await model.gate(`${name}-turn`).reached;
  await model.gate(`${name}-task`).reached;
  return { parent, task };
}

describe("with the defaults", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ model });
  });
  afterAll(() => world?.stop());

  test("tasks continue when the parent's turn is aborted", async () => {
    const { parent, task } = await busyParent(world, "goes-on");
    await world.opencode.abort(parent.sessionId);
    await world.opencode.waitIdle(parent.sessionId);
    expect((await world.task(task)).status).toBe("running");
    model.gate("goes-on-task").open();
    expect((await world.ended(task)).status).toBe("completed");
    expect((await parent.notice(task)).hidden).toContain("done anyway");
    model.gate("goes-on-turn").open();
  });

  test("toasts report launches and ends", async () => {
    const from = world.opencode.events.length;
    const shown = (text: string) =>
      world.opencode.waitForEventOf("tui.toast.show", ({ message }) => message.includes(text), { from });
    const parent = await world.parent();
    const id = await parent.launch([gate("toast"), fail(400, "no")], { description: "burns" });
    await shown("Launched: burns");
    model.gate("toast").open();
    expect((await shown("Failed: burns")).properties.variant).toBe("error");
    await world.ended(id);
  });
});

describe("with wrong settings", () => {
  /** A data folder with this file, and an OpenCode that uses it. */
  async function worldWith(file: string, options: Record<string, unknown>): Promise<World> {
    const storage = await createTemporaryRoot();
    onTestFinished(() => rmSync(storage, { recursive: true, force: true }));
    writeFileSync(join(storage, "asyncagents.json"), file);
    const world = await World.start({ model, options, env: { ASYNCAGENTS_HOME: storage } });
    onTestFinished(() => world.stop());
    return world;
  }

  test("in the file, OpenCode works and nothing is launched; once corrected, the next call works", async () => {
    const world = await worldWith('{ "limits": { "maxCosts": 5 } }', {});
    const said = "limits.maxCosts is unknown. Did you mean limits.maxCost?";
    const parent = await world.parent();
    expect(await parent.ask("task", { description: "d", prompt: "p", agent: "general" })).toContain(said);
    expect(await parent.ask("list")).toContain(said);
    expect(await world.store.instances()).toEqual([]);
    const shown = ({ message }: { message: string }) => message.includes(said);
    await world.opencode.waitForEventOf("tui.toast.show", shown, { from: 0 });
    const toasts = world.opencode.events.filter(({ type }) => type === "tui.toast.show");
    expect(toasts).toHaveLength(1);
    expect(readFileSync(join(world.storage, "asyncagents.log"), "utf8")).toContain(said);
    writeFileSync(join(world.storage, "asyncagents.json"), '{ "limits": { "maxConcurrent": 1 } }');
    const first = await parent.launch([gate("one-slot"), say("first")]);
    await model.gate("one-slot").reached;
    const second = await parent.launch([say("second")]);
    expect(await world.until(second, ({ phase }) => phase === "queued", "queued")).toMatchObject({ status: "running" });
    model.gate("one-slot").open();
    expect([(await world.ended(first)).run.result, (await world.ended(second)).run.result]).toEqual([
      "first",
      "second",
    ]);
  });

  test("in the options, too", async () => {
    const world = await worldWith("{}", { maxcost: 5, toolPrefix: "background" });
    expect(await (await world.parent()).ask("list")).toContain("maxcost is unknown. Did you mean maxCost?");
    expect(await world.store.instances()).toEqual([]);
  });
});

describe("with everything allowed", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({
      model,
      options: {
        cancelOnAbort: true,
        resumable: ["error"],
        maxDepth: 2,
        toasts: false,
        maxConcurrent: 1,
        maxRepeats: 3,
      },
      env: { NODE_ENV: "development" },
    });
  });
  afterAll(() => world?.stop());

  test("in development mode the visible part ends with the indicator [AT-15.1]", async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("x")]);
    expect((await parent.notice(id)).visible).toEndWith("[hint attached]");
  });

  test("aborting the parent's turn cancels its tasks", async () => {
    const { parent, task } = await busyParent(world, "stops");
    await world.opencode.abort(parent.sessionId);
    expect((await world.ended(task)).status).toBe("cancelled");
    model.gate("stops-task").open();
    model.gate("stops-turn").open();
  });

  test("a failed task can be resumed, a cancelled one still not", async () => {
    const parent = await world.parent();
    const failed = await parent.launch([fail(400, "first try")]);
    await world.ended(failed);
    await parent.ask("task", { resume: failed, prompt: `${world.script(say("second try"))} again` });
    const task = await world.ended(failed);
    expect([task.status, task.run.result]).toEqual(["completed", "second try"]);
    const cancelled = await parent.launch([gate("no"), say("x")]);
    await model.gate("no").reached;
    await parent.ask("cancel", { task_id: cancelled });
    expect(await parent.ask("task", { resume: cancelled, prompt: "p" })).toContain('status "cancelled"');
  });

  test("one at a time: the next one waits in the queue, which the list shows, and starts when there is room", async () => {
    const parent = await world.parent();
    const first = await parent.launch([gate("room"), say("first")]);
    await model.gate("room").reached;
    const second = await parent.launch([say("second")]);
    expect(await world.until(second, ({ phase }) => phase === "queued", "queued")).toMatchObject({ status: "running" });
    expect(await parent.ask("list")).toContain("running, queued");
    expect(model.requestsOf(second)).toEqual([]);
    model.gate("room").open();
    expect([(await world.ended(first)).run.result, (await world.ended(second)).run.result]).toEqual([
      "first",
      "second",
    ]);
  });

  test("an agent that keeps making the same call is stopped, and its parent is told why", async () => {
    const parent = await world.parent();
    const same = call("read", { filePath: "notes.txt" });
    const id = await parent.launch([same, same, same, same, gate("loop"), say("never")]);
    const task = await world.ended(id);
    expect(task).toMatchObject({
      status: "error",
      run: { error: expect.stringContaining("called read with the same") },
    });
    expect((await parent.notice(id)).hidden).toContain("called read with the same arguments 4 times in a row");
    await world.opencode.waitIdle(id);
  });

  test("a command in a task's shell knows that an agent runs it; one in a person's session does not", async () => {
    const parent = await world.parent();
    const shown = call("bash", { command: "echo depth=[$ASYNCAGENTS_DEPTH]", description: "depth" });
    const id = await parent.launch([shown, say("done")]);
    await world.ended(id);
    await world.opencode.promptAsync(parent.sessionId, `${world.script(shown, say("own"))} go`);
    const told = async (session: string, depth: string) =>
      model.waitForRequest(
        (seen) => seen.sessionId === session && JSON.stringify(seen.request.body).includes(`depth=[${depth}]`),
      );
    await told(parent.sessionId, "");
    await told(id, "1");
  });

  test("a task may launch tasks down to the depth limit, where those no longer have the tools", async () => {
    const parent = await world.parent();
    const below = { description: "below", prompt: `${world.script(say("from below"))} go`, agent: "general" };
    const id = await parent.launch([call("asyncagents_task", below), say("launched one myself"), say("told")]);
    await world.ended(id);
    const { tasks } = await world.store.tasks({ parentSessionId: id });
    expect(tasks.length).toBe(1);
    const child = await world.ended(tasks[0]?.id ?? "");
    expect(child.run.result).toBe("from below");
    expect(model.requestsOf(child.id)[0]?.request.toolNames).not.toContain("asyncagents_task");
    // It may not launch through our MCP server either, if it has that too, nor merge or delete.
    const { permission } = await world.opencode.client.session(child.id);
    for (const name of ["launch_task", "start_task_attempt", "follow_up", "merge_attempt", "delete_task"]) {
      expect(permission).toContainEqual({ permission: `asyncagents_${name}`, pattern: "*", action: "deny" });
    }
    await model.waitForRequest((seen) => seen.sessionId === id && seen.request.lastUserText.includes("finished in"));
    expect((await world.task(id)).run.result).toBe("launched one myself");
  });
});
