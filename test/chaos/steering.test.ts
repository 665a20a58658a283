/**
 * Messages into running tasks on the real OpenCode: in the middle of a tool call, twice in a row, during the last
 * answer, too late, and with the process killed before and after they are sent.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ENDED_FIRST, type SteeringMessage } from "../../src/model/steering.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { call, gate, say } from "../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { type Parent, World } from "../scenarios/world.ts";

const crashing = pathToFileURL(join(import.meta.dir, "crashing-plugin.ts")).href;
const bash = (command: string) => call("bash", { command, description: "Runs a command" });

let world: World;
let crashFile: string;
beforeAll(async () => {
  crashFile = join(await createTemporaryRoot(), "crash-at");
  world = await World.start({ plugin: crashing, options: { crashFile } });
});
afterAll(() => world?.stop());

const steer = (parent: Parent, id: string, text: string) => parent.ask("task", { steer: id, prompt: text });

/** The newest message to the task, once it is in that state. */
function receipt(id: string, state: SteeringMessage["state"]): Promise<SteeringMessage> {
  return eventually(world.store, async () => {
    const last = (await world.store.steering(id)).at(-1);
    return last?.state === state ? last : null;
  });
}

/** Waits for a bash call of the task that has begun. */
const isRunning = (id: string) =>
  world.opencode.waitForEventOf(
    "message.part.updated",
    ({ part }) => part.sessionID === id && part.type === "tool" && part.state.status === "running",
    { timeoutMs: 60_000 },
  );

/** The texts that a person or we sent into the session. */
async function userTexts(id: string): Promise<string[]> {
  const messages = await world.opencode.messages(id);
  const own = messages.filter(({ info }) => info.role === "user").slice(1);
  return own.map(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""));
}

describe("a message to a running task", () => {
  test("in the middle of a tool call is read at the next step, twice in a row and in order", async () => {
    const parent = await world.parent();
    const file = join(world.opencode.directory, "go-on");
    const waiting = bash(`while [ ! -e ${file} ]; do sleep 0.1; done`);
    const id = await parent.launch([waiting, say("both were heard")]);
    await isRunning(id);
    const answer = await steer(parent, id, "first word");
    expect(answer).toContain("sent: it is in the agent's session, and is read at its next step");
    await steer(parent, id, "second word");
    expect((await world.store.steering(id)).map(({ state }) => state)).toEqual(["sent", "sent"]);
    writeFileSync(file, "");
    const task = await world.ended(id);
    expect([task.status, task.run.result]).toEqual(["completed", "both were heard"]);
    expect((await world.store.steering(id)).map(({ text, state }) => [text, state])).toEqual([
      ["first word", "delivered"],
      ["second word", "delivered"],
    ]);
    expect(await userTexts(id)).toEqual(["first word", "second word"]);
    const last = JSON.stringify(world.model.requestsOf(id).at(-1)?.request.body.messages);
    expect([last.split("first word").length, last.split("second word").length]).toEqual([2, 2]);
    expect((await parent.told()).get(id)).toBe(1);
  }, 120_000);

  test("during the last answer continues the run, which ends with what was said about it", async () => {
    const parent = await world.parent();
    const id = await parent.launch([gate("last"), say("too early"), gate("then"), say("with that as well")]);
    await world.model.gate("last").reached;
    expect(await steer(parent, id, "one more thing")).toContain("sent");
    world.model.gate("last").open();
    await world.model.gate("then").reached;
    const delivered = await receipt(id, "delivered");
    expect((await world.task(id)).status).toBe("running");
    const shown = await world.opencode.messages(id);
    expect(shown.map(({ info }) => info.id)).toContain(delivered.messageId ?? "");
    world.model.gate("then").open();
    const task = await world.ended(id);
    expect([task.status, task.run.result]).toEqual(["completed", "with that as well"]);
  }, 120_000);

  test("fails with the reason if the task is cancelled first, and is refused once it has ended", async () => {
    const parent = await world.parent();
    const id = await parent.launch([gate("never"), say("unheard")]);
    await world.model.gate("never").reached;
    await steer(parent, id, "never read");
    await parent.ask("cancel", { task_id: id });
    expect((await receipt(id, "failed")).reason).toBe(ENDED_FIRST.sent);
    expect(await steer(parent, id, "hello?")).toContain("Resume it with this text");
    const other = await world.parent();
    expect(await steer(other, id, "mine?")).toContain("not_allowed");
  }, 120_000);

  test("of a person in the same session is not taken for ours", async () => {
    const parent = await world.parent();
    const id = await parent.launch([gate("person"), say("the run's own"), gate("theirs"), say("to the person")]);
    await world.model.gate("person").reached;
    await world.opencode.promptAsync(id, "what are you doing?", { agent: "general" });
    world.model.gate("person").open();
    await world.model.gate("theirs").reached;
    world.model.gate("theirs").open();
    const task = await world.ended(id);
    expect([task.status, task.run.result]).toEqual(["completed", "the run's own"]);
    expect(await world.store.steering(id)).toEqual([]);
  }, 120_000);
});

describe("kill -9", () => {
  for (const [point, isThere] of [
    ["steer-stored", false],
    ["steer-sent", true],
  ] as const) {
    test(`at ${point}: the run was interrupted, and the message failed, neither doubled nor forgotten`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([gate(point), say("unheard")]);
      await world.model.gate(point).reached;
      writeFileSync(crashFile, point);
      const { client } = await world.api();
      await client.steer(id, { text: "just before the end" }).catch(() => undefined);
      expect((await world.opencode.exited()).signal).toBe("SIGKILL");
      await world.opencode.restart();
      await world.settled();
      const failed = await receipt(id, "failed");
      expect([failed.text, failed.reason]).toEqual(["just before the end", ENDED_FIRST.sent]);
      const task = await world.task(id);
      expect([task.status, task.run.error?.split(":")[0]]).toEqual(["error", "interrupted"]);
      expect(await userTexts(id)).toEqual(isThere ? ["just before the end"] : []);
    }, 120_000);
  }
});
