/**
 * Tasks that are stuck or fail at their provider, on the real OpenCode: everyone can see it, and the parent is told
 * once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { call, fail, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start({ permission: { "*": "allow", bash: "ask" } });
});
afterAll(() => world?.stop());

test("a requested permission shows in the list, the output, the store and one notice", async () => {
  const parent = await world.parent();
  const id = await parent.launch([call("bash", { command: "echo hello", description: "says hello" }), say("allowed")]);
  const task = await world.until(id, (now) => now.phase === "waiting", "waiting");
  expect(task.phaseDetail).toMatchObject({ kind: "waiting", asks: "permission" });
  expect(task.phaseDetail?.kind === "waiting" ? task.phaseDetail.text : "").toContain("echo hello");
  const notice = await parent.notice(id);
  expect(notice.visible).toStartWith('⏸ **Agent "task 1" needs an answer.**');
  expect(notice.hidden).toContain("echo hello");
  expect(await parent.ask("list")).toContain("waiting for an answer to a permission: bash: echo hello");
  expect(await parent.ask("output", { task_id: id, block: true })).toContain("waiting for an answer");
  const asked = await world.opencode.waitForEventOf("permission.asked", (event) => event.sessionID === id);
  await world.opencode.client.replyPermission(asked.properties.id, "once");
  const ended = await world.ended(id);
  expect([ended.status, ended.phase, ended.run.result]).toEqual(["completed", null, "allowed"]);
  expect(ended.phaseDetail).toMatchObject({ kind: "answered", reply: "allowed once", by: "host" });
  await parent.notice("allowed");
  expect((await parent.notices()).filter(({ visible }) => visible.startsWith("⏸")).length).toBe(1);
});

test("a denied permission ends the task with what was denied", async () => {
  const parent = await world.parent();
  const id = await parent.launch([call("bash", { command: "echo no", description: "x" }), say("never")]);
  const asked = await world.opencode.waitForEventOf("permission.asked", (event) => event.sessionID === id);
  await world.opencode.client.replyPermission(asked.properties.id, "reject");
  const task = await world.ended(id);
  expect(task.status).toBe("error");
  expect(task.run.error).toContain("stopped at its call of bash");
});

test("a permission granted over the status API lets the task continue", async () => {
  const parent = await world.parent();
  const id = await parent.launch([call("bash", { command: "echo hello", description: "says hello" }), say("allowed")]);
  await world.until(id, (now) => now.phase === "waiting", "waiting");
  const { client } = await world.api();
  await client.answer(id, { kind: "permission", decision: "once" });
  expect(await world.ended(id)).toMatchObject({ status: "completed", run: { result: "allowed" } });
  expect(client.answer(id, { kind: "permission", decision: "once" })).rejects.toMatchObject({
    code: "nothing_asked",
    message: expect.stringContaining("already allowed once, over the API"),
  });
});

test("a question shows likewise", async () => {
  const parent = await world.parent();
  const options = [
    { label: "red", description: "r" },
    { label: "blue", description: "b" },
  ];
  const id = await parent.launch([
    call("question", { questions: [{ question: "Which colour?", header: "Colour", options }] }),
    say("thanks"),
  ]);
  const task = await world.until(id, (now) => now.phase === "waiting", "waiting");
  expect(task.phaseDetail).toMatchObject({ asks: "question", text: "Which colour?" });
  const asked = await world.opencode.waitForEventOf("question.asked", (event) => event.sessionID === id);
  await world.opencode.client.replyQuestion(asked.properties.id, [["red"]]);
  expect((await world.ended(id)).status).toBe("completed");
});

test("a provider that keeps failing shows with its reason and count, and is announced once", async () => {
  const parent = await world.parent();
  const id = await parent.launch([fail(503, "overloaded today", { times: 4, retryAfter: 0.3 }), say("at last")]);
  const retrying = await world.until(id, (task) => task.phase === "retrying", "retrying");
  expect(retrying.phaseDetail).toMatchObject({ kind: "retrying" });
  const notice = await parent.notice("keeps failing at its provider");
  expect(notice.hidden).toContain(id);
  expect((await world.ended(id)).run.result).toBe("at last");
  await parent.notice("at last");
  expect((await parent.notices()).filter(({ visible }) => visible.startsWith("↻")).length).toBe(1);
  const counts = (await world.store.feed(0, 500))
    .filter((entry) => entry.taskId === id)
    .flatMap(({ event }) =>
      event.type === "run.phased" && event.detail?.kind === "retrying" ? [event.detail.count] : [],
    );
  expect(counts).toContain(1);
  expect(Math.max(...counts)).toBeGreaterThan(1);
});
