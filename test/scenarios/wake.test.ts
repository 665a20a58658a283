/**
 * What background tasks cost their parent, on the real OpenCode: which ends start a turn, how much text they add, and
 * what a summary of the parent's session keeps.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fail, gate, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world?.stop());

const requests = (sessionId: string) => world.model.requestsOf(sessionId);

test("five tasks that wake together cost one turn, and less than 2 KB besides their results", async () => {
  const parent = await world.parent();
  const scripts = Array.from({ length: 5 }, (_, index) => [
    ...(index === 4 ? [gate("fifth")] : []),
    say(`result number ${index + 1}`),
  ]);
  const ids = await parent.launchAll(scripts, { wake: "all" });
  for (const id of ids.slice(0, 4)) await world.ended(id);
  expect(await parent.notices()).toEqual([]);
  const before = requests(parent.sessionId).length;
  world.model.gate("fifth").open();
  await parent.notice("All 5 tasks finished.");
  await world.settled();
  await world.opencode.waitIdle(parent.sessionId);
  const [notice, ...others] = await parent.notices();
  expect([others, requests(parent.sessionId).length - before]).toEqual([[], 1]);
  for (const [index, id] of ids.entries()) {
    expect(notice?.hidden.split(`result of task ${id}`)).toHaveLength(2);
    expect(notice?.hidden).toContain(`result number ${index + 1}`);
  }
  const results = ids.map((_, index) => `result number ${index + 1}`).join("");
  const bytes = Buffer.byteLength(`${notice?.visible}${notice?.hidden}`) - Buffer.byteLength(results);
  expect(bytes).toBeLessThan(2048);
});

test("with failures, a completed task adds its notice without a turn, and a failed one starts one", async () => {
  const parent = await world.parent();
  const fine = await parent.launch([say("fine")], { wake: "failures" });
  await parent.notice(fine);
  await world.settled();
  const before = requests(parent.sessionId).length;
  const broken = await parent.launch([fail(400, "no credit")], { wake: "failures" });
  const notice = await parent.notice(broken);
  await world.settled();
  await world.opencode.waitIdle(parent.sessionId);
  // The launching turn has two requests, and the failure one of its own.
  expect([requests(parent.sessionId).length - before, parent.turnsOf(notice)]).toEqual([3, 1]);
});

test("a summary of the parent's session keeps its live tasks and the results that nobody has read", async () => {
  const parent = await world.parent();
  const [read, unread, live] = await parent.launchAll([
    [say("was read")],
    [say("was not read")],
    [gate("compacted"), say("later")],
  ]);
  for (const id of [read, unread]) await parent.notice(id ?? "");
  await parent.ask("output", { task_id: read });
  await world.opencode.summarize(parent.sessionId);
  const summary = world.model.requests.findLast(
    ({ request, kind }) => request.speaker === parent.sessionId && kind !== "turn",
  );
  const text = JSON.stringify(summary?.body.messages ?? []);
  const asked = text.slice(text.indexOf("Copy these lines into the summary"));
  expect(asked).toContain("Background tasks at work");
  expect([live, unread, read].map((id) => asked.includes(id ?? "missing"))).toEqual([true, true, false]);
  world.model.gate("compacted").open();
  await world.settled();
});
