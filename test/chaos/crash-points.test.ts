/**
 * kill -9 at each named point, on the real OpenCode: after a restart the task is listed with its true state, and its
 * parent was notified exactly once, counted as messages by id and as model turns caused.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CrashPoint } from "../../src/engine/context.ts";
import { gate, say } from "../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { type Parent, World } from "../scenarios/world.ts";

const plugin = pathToFileURL(join(import.meta.dir, "crashing-plugin.ts")).href;
let world: World;
let crashFile: string;
beforeAll(async () => {
  crashFile = join(await createTemporaryRoot(), "crash-at");
  world = await World.start({ plugin, options: { crashFile } });
});
afterAll(() => world?.stop());

/** Launches a task, lets the process die at the point, and starts it again. Returns the parent. */
async function crashAt(point: CrashPoint, open?: string): Promise<Parent> {
  const parent = await world.parent();
  const child = open ? [gate(open), say("finished before the crash")] : [say("finished before the crash")];
  const input = { description: point, prompt: `${world.script(...child)} work`, agent: "general" };
  const script = world.script(
    { type: "toolCalls", text: "", calls: [{ name: "asyncagents_task", input }] },
    say("waiting"),
  );
  if (!open) writeFileSync(crashFile, point);
  await world.opencode.promptAsync(parent.sessionId, `${script} go`);
  if (open) {
    await world.model.gate(open).reached;
    await world.opencode.waitIdle(parent.sessionId);
    writeFileSync(crashFile, point);
    world.model.gate(open).open();
  }
  expect((await world.opencode.exited()).signal).toBe("SIGKILL");
  await world.opencode.restart();
  await world.settled();
  return parent;
}

/** The notice is the last message in the session: it started no turn. To be sure, another session's turn runs first. */
async function expectNoTurn(parent: Parent): Promise<void> {
  await (await world.parent()).ask("list");
  const [notice] = await parent.notices();
  const messages = await world.opencode.messages(parent.sessionId);
  expect(messages.at(-1)?.info.id).toBe(notice?.messageId ?? "a notice");
  expect(notice && parent.turnsOf(notice)).toBe(0);
}

async function onlyTask(parent: Parent) {
  const { tasks } = await world.store.tasks({ parentSessionId: parent.sessionId });
  expect(tasks.length).toBe(1);
  const task = tasks[0];
  if (!task) throw new Error("no task");
  expect((await parent.told()).get(task.id)).toBe(1);
  expect((await parent.notices()).length).toBe(1);
  expect(await parent.ask("list")).toContain(task.id);
  return task;
}

for (const point of ["session-made", "row-written"] as const) {
  test(`after ${point}: the task was interrupted before its prompt, and nothing was prompted`, async () => {
    const parent = await crashAt(point);
    await expectNoTurn(parent);
    const task = await onlyTask(parent);
    expect([task.status, task.run.error?.split(":")[0]]).toEqual(["error", "interrupted"]);
    expect(world.model.requestsOf(task.id).length).toBe(0);
  });
}

test("after prompt-sent: interrupted or finished, never run again", async () => {
  const parent = await crashAt("prompt-sent");
  const task = await onlyTask(parent);
  expect(task.status === "error" ? task.run.error : task.run.result).toMatch(
    /^(interrupted|finished before the crash)/,
  );
  expect(world.model.requestsOf(task.id).length).toBeLessThanOrEqual(1);
});

test("after outbox-written: the end is announced after the restart, without starting an unattended turn", async () => {
  const parent = await crashAt("outbox-written", "outbox");
  await expectNoTurn(parent);
  const task = await onlyTask(parent);
  expect([task.status, task.run.result]).toEqual(["completed", "finished before the crash"]);
  const seen = world.model.requestsOf(parent.sessionId).at(-1)?.request.userTexts.join("\n");
  expect(seen).toContain("finished before the crash");
});

test("after notice-sent: it is not announced again", async () => {
  const parent = await crashAt("notice-sent", "sent");
  const [notice] = await parent.notices();
  expect(notice && parent.turnsOf(notice)).toBeLessThanOrEqual(1);
  const task = await onlyTask(parent);
  expect([task.status, task.run.result]).toEqual(["completed", "finished before the crash"]);
});
