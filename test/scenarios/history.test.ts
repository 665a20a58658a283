/**
 * What is stored, and where: restarts, clearing and time lose no task, on the real OpenCode.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../src/testing/eventually.ts";
import { gate, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world?.stop());

test("a task's id is its session's id, and there is no second one [PD-01]", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("x")]);
  const task = await world.ended(id);
  expect(task.sessionId).toBe(task.id);
  expect((await world.opencode.client.session(task.id)).parentID).toBe(parent.sessionId);
  const { tasks } = await world.store.tasks({ parentSessionId: parent.sessionId });
  expect(tasks.map((known) => known.id)).toEqual([id]);
});

test("data lives under the home's .opencode/plugins/background-agent, readable by its owner only [PD-05]", async () => {
  const parent = await world.parent();
  await world.ended(await parent.launch([say("x")]));
  const folder = join(world.opencode.home, ".opencode", "plugins", "background-agent");
  expect(existsSync(join(folder, "asyncagents.db"))).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "asyncagents.db")).mode & 0o777).toBe(0o600);
});

test("clear cancels what runs and empties the view; the tasks stay on disk and can be resumed [PD-04]", async () => {
  const parent = await world.parent();
  const done = await parent.launch([say("done")]);
  await parent.notice(done);
  const running = await parent.launch([gate("clear"), say("never")]);
  await world.model.gate("clear").reached;
  expect(await parent.ask("clear")).toContain("Cleared 2 tasks (1 were running");
  expect((await world.task(running)).status).toBe("cancelled");
  expect(await parent.ask("list")).toBe("No background tasks found");
  expect((await world.store.tasks({ parentSessionId: parent.sessionId })).total).toBe(2);
  await parent.ask("task", { resume: done, prompt: `${world.script(say("still here"))} more` });
  expect((await world.ended(done)).run.result).toBe("still here");
  expect(await parent.ask("list")).toContain(done);
});

test("a task completed before a restart can be listed, read and resumed after it [PD-03, PD-07]", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("before the restart")]);
  await parent.notice(id);
  await world.opencode.waitIdle(parent.sessionId);
  await world.opencode.restart();
  expect(await parent.ask("list")).toContain(id);
  expect(await parent.ask("output", { task_id: id })).toContain("before the restart");
  await parent.ask("task", { resume: id, prompt: `${world.script(say("after it"))} more` });
  const task = await world.ended(id);
  expect([task.status, task.run.number, task.run.result]).toEqual(["completed", 1, "after it"]);
  expect(
    world.model
      .requestsOf(id)
      .at(-1)
      ?.request.messages.some((message) => JSON.stringify(message).includes("before the restart")),
  ).toBe(true);
  expect((await parent.notice("Resume #1")).hidden).toContain("after it");
});

test("an old task can be resumed for as long as its session exists [PD-08]", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("old")]);
  await parent.notice(id);
  await parent.ask("output", { task_id: id });
  await parent.ask("clear");
  const years = 5 * 365 * 24 * 3600 * 1000;
  const database = new Database(join(world.storage, "asyncagents.db"));
  database.run("update tasks set started_at = started_at - ?, completed_at = completed_at - ? where id = ?", [
    years,
    years,
    id,
  ]);
  database.close();
  await world.opencode.restart();
  await parent.ask("task", { resume: id, prompt: `${world.script(say("not expired"))} more` });
  expect((await world.ended(id)).run.result).toBe("not expired");
});

test("the readable mirror eventually contains every task in its current state", async () => {
  const parent = await world.parent();
  await world.ended(await parent.launch([say("x")]));
  const { tasks } = await world.store.tasks({ limit: 200 });
  const held = tasks.map((task) => [task.id, task.status]).sort();
  // It follows at its own pace, and records in the store how far it is.
  await eventually(world.store, async () => {
    const file = Bun.file(join(world.storage, "tasks.json"));
    const mirror = (await file.exists()) ? await file.json() : {};
    const mirrored = Object.keys(mirror).map((id) => [id, mirror[id].status]);
    return Bun.deepEquals(mirrored.sort(), held) ? mirror : null;
  });
});
