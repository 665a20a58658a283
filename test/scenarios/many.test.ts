/**
 * Many tasks and many processes, on the real OpenCode: one store, nothing lost, nothing duplicated.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../src/testing/eventually.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { fail, gate, say } from "../../src/testing/models/script.ts";
import { type Parent, World } from "./world.ts";

/** A busy machine needs a while for sixty concurrent agents. */
const PATIENCE_MS = 150_000;

const model = startOpenAiModel();
let first: World;
let second: World;
let third: World | undefined;
beforeAll(async () => {
  first = await World.start({ model });
  second = await World.start({ model, home: first.opencode.home });
});
afterAll(async () => {
  await third?.stop();
  await second?.stop();
  await first?.stop();
  await model.stop();
});

test(
  "60 tasks in one step, three of them failing: all end correctly, all are announced once",
  async () => {
    const parent = await first.parent();
    const fails = new Set([7, 30, 59]);
    const scripts = Array.from({ length: 60 }, (_, index) =>
      fails.has(index) ? [fail(400, `no to ${index}`)] : [say(`answer ${index}`)],
    );
    const ids = await parent.launchAll(scripts);
    await first.settled();
    await first.opencode.waitIdle(parent.sessionId);
    const told = await parent.told();
    for (const [index, id] of ids.entries()) {
      const task = await first.task(id);
      expect([index, task.status]).toEqual([index, fails.has(index) ? "error" : "completed"]);
      expect(task.run.result ?? task.run.error).toContain(fails.has(index) ? `no to ${index}` : `answer ${index}`);
      expect([index, told.get(id)]).toEqual([index, 1]);
    }
    const notices = await parent.notices();
    expect(notices.filter(({ hidden }) => hidden.includes("All 60 tasks finished.")).length).toBe(1);
    expect(notices.at(-1)?.visible).toContain("Task Progress: 60/60");
    for (const notice of notices) expect(parent.turnsOf(notice)).toBeLessThanOrEqual(1);
  },
  PATIENCE_MS,
);

test(
  "two processes on one home with 20 concurrent tasks each: 40 in the store and the mirror; a third lists them all",
  async () => {
    const known = (await first.store.tasks({ limit: 1 })).total;
    const launch = async (world: World, parent: Parent) =>
      parent.launchAll(
        Array.from({ length: 20 }, (_, index) => [gate("both"), index === 0 ? fail(400, "no") : say(`${index}`)]),
        {
          description: world === first ? "of the first" : "of the second",
        },
      );
    const [one, two] = [await first.parent(), await second.parent()];
    const both = Promise.all([launch(first, one), launch(second, two)]);
    await model.gate("both").reachedBy(40, 120_000);
    model.gate("both").open();
    const [mine, theirs] = await both;
    await first.settled();
    for (const [parent, ids] of [
      [one, mine],
      [two, theirs],
    ] as const) {
      const told = await parent.told();
      for (const [index, id] of ids.entries()) {
        expect((await first.task(id)).status).toBe(index === 0 ? "error" : "completed");
        expect(told.get(id)).toBe(1);
      }
    }
    third = await World.start({ model, home: first.opencode.home });
    const { tasks, total } = await third.store.tasks({ limit: 200 });
    expect(total).toBe(known + 40);
    const listed = new Set(tasks.map((task) => task.id));
    for (const id of [...mine, ...theirs]) expect(listed.has(id)).toBe(true);
    await third.opencode.client.session(mine[0] ?? "");
    // The mirror follows at its own pace, and records in the store how far it is.
    await eventually(first.store, async () => {
      const read = JSON.parse(readFileSync(join(first.storage, "tasks.json"), "utf8"));
      const isEnded = (id: string) => read[id]?.status === "completed" || read[id]?.status === "error";
      return [...mine, ...theirs].every(isEnded) ? read : null;
    });
  },
  PATIENCE_MS,
);

test("a task of another process is cancelled through the store", async () => {
  const parent = await first.parent();
  const id = await parent.launch([gate("far"), say("never")]);
  await model.gate("far").reached;
  const elsewhere = await second.opencode.client.session(parent.sessionId);
  expect(elsewhere.id).toBe(parent.sessionId);
  const script = second.script(
    { type: "toolCalls", text: "", calls: [{ name: "asyncagents_cancel", input: { task_id: id } }] },
    say("ok"),
  );
  await second.opencode.prompt(parent.sessionId, `${script} stop it`);
  expect((await first.task(id)).status).toBe("cancelled");
  model.gate("far").open();
  await first.opencode.waitIdle(id);
  expect(model.requestsOf(id).length).toBe(1);
});

test("when a process dies, another one on the home recovers its tasks", async () => {
  third ??= await World.start({ model, home: first.opencode.home });
  const dying = third;
  const parent = await dying.parent();
  const id = await parent.launch([gate("dying"), say("never")]);
  await model.gate("dying").reached;
  await dying.opencode.kill("SIGKILL");
  const task = await first.ended(id);
  expect([task.status, task.run.error?.split(":")[0]]).toEqual(["error", "interrupted"]);
  await first.settled();
  const messages = await first.opencode.messages(parent.sessionId);
  const told = messages.flatMap(({ parts }) =>
    parts.filter((part) => part.type === "text" && part.text.includes(`error of task ${id}`)),
  );
  expect(told.length).toBe(1);
  model.gate("dying").open();
});
