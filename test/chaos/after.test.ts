/**
 * kill -9 of the real OpenCode around the start of a task that waited for another one: it starts exactly once, or ends
 * truthfully, and its parent is told once.
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

interface Pair {
  parent: Parent;
  first: string;
  second: string;
}

/** A task at its gate, and one that starts after it. */
async function pair(name: string): Promise<Pair> {
  const parent = await world.parent();
  const first = await parent.launch([gate(name), say("the first")]);
  const prompt = `${world.script(say("the second"))} {{result:${first}}}`;
  const second = await parent.launch([], { prompt, after: [first] });
  await world.model.gate(name).reached;
  return { parent, first, second };
}

/** Lets the first task end and the process die at the point, then starts the process again. */
async function crashAt(point: CrashPoint): Promise<Pair> {
  const made = await pair(point);
  writeFileSync(crashFile, point);
  world.model.gate(point).open();
  expect((await world.opencode.exited()).signal).toBe("SIGKILL");
  await world.opencode.restart();
  return made;
}

/** The sessions that were made for a task. */
async function sessionsOf({ parent, first }: Pair): Promise<string[]> {
  const children = await world.opencode.client.children(parent.sessionId);
  return children.map(({ id }) => id).filter((id) => id !== first);
}

for (const point of ["outbox-written", "session-made"] as const) {
  test(`at ${point}, between the end of the first and the start of the second: it starts once`, async () => {
    const made = await crashAt(point);
    const { parent, first, second } = made;
    const task = await world.ended(second);
    expect([task.status, task.run.result]).toEqual(["completed", "the second"]);
    expect((await world.task(first)).run.result).toBe("the first");
    await world.settled();
    const requests = world.model.requestsOf(task.sessionId);
    expect([requests.length, await sessionsOf(made)]).toEqual([1, [task.sessionId]]);
    expect(requests[0]?.request.userTexts.join()).toContain("the first");
    expect([(await parent.told()).get(first), (await parent.told()).get(second)]).toEqual([1, 1]);
  }, 120_000);
}

test("at row-written, when it has begun without a prompt: it was interrupted, and is not run again", async () => {
  const { parent, second } = await crashAt("row-written");
  const task = await world.ended(second);
  expect([task.status, task.run.error?.split(":")[0]]).toEqual(["error", "interrupted"]);
  await world.settled();
  expect(world.model.requestsOf(task.sessionId)).toHaveLength(0);
  expect((await parent.told()).get(second)).toBe(1);
}, 120_000);

test("while it waits: it is still there, and judged by how the first one ended", async () => {
  const { parent, first, second } = await pair("killed");
  await world.opencode.kill();
  await world.opencode.restart();
  const reason = `Not run: it was to start after task ${first}, which failed.`;
  expect((await world.ended(second)).run.error).toBe(reason);
  await world.settled();
  expect([(await parent.told()).get(first), (await parent.told()).get(second)]).toEqual([1, 1]);
}, 120_000);
