/** A notice that still arrives although its call failed, on the real OpenCode: one message, one turn of the model. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually } from "../../src/testing/eventually.ts";
import { say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

const plugin = pathToFileURL(join(import.meta.dir, "plugins/late-notice-plugin.ts")).href;
let world: World;
beforeAll(async () => {
  world = await World.start({ plugin, options: { lateMs: [700, 4_000, 8_000] } });
});
afterAll(() => world?.stop());

for (const [when, times] of [
  ["before it is tried again", 1],
  ["after it was tried again", 2],
] as const) {
  test(`a notice that arrives ${when} is one message, and one turn`, async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("fine")]);
    const arrivals: string[] = [];
    await world.opencode.waitForEvent((event) => {
      if (event.type !== "message.part.updated") return false;
      const { part } = event.properties;
      if (part.type === "text" && part.synthetic && part.text.includes(`result of task ${id}`)) arrivals.push(part.id);
      return arrivals.length === times;
    }, 60_000);
    await world.settled();
    await world.opencode.waitIdle(parent.sessionId);
    expect([(await parent.notices()).length, new Set(arrivals).size]).toEqual([1, 1]);
    const asked = world.model.requestsOf(parent.sessionId).filter(({ request }) => request.lastUserText.includes(id));
    expect(asked.length).toBe(1);
    expect((await world.store.lastNotice(id))?.attempts).toBe(times);
  }, 120_000);
}

test("one that arrives after the parent has gone on is one message, and another one points to it", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("fine")]);
  await eventually(world.store, async () => ((await world.store.lastNotice(id))?.reason ? true : null));
  await world.opencode.promptAsync(
    parent.sessionId,
    `${world.script(say("still here"), say("read it"))} are you there?`,
  );
  const arrivals: string[] = [];
  await world.opencode.waitForEvent((event) => {
    if (event.type !== "message.part.updated") return false;
    const { part } = event.properties;
    if (part.type === "text" && part.synthetic && part.text.includes(`result of task ${id}`)) arrivals.push(part.id);
    return arrivals.length === 2;
  }, 60_000);
  await world.settled();
  await world.opencode.waitIdle(parent.sessionId);
  expect([(await parent.notices()).length, new Set(arrivals).size]).toEqual([1, 1]);
  const messages = await world.opencode.messages(parent.sessionId);
  const texts = messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join());
  expect(texts.filter((text) => text.includes("came late")).length).toBe(1);
}, 120_000);
