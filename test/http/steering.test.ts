/** Messages into running tasks over HTTP: their receipts, who may send them, and how they are cancelled. */
import { expect, test } from "bun:test";
import { call, gate, say } from "../../src/hosts/scripted/script.ts";
import { steeringSchema } from "../../src/protocol/steering.ts";
import { ended } from "../engine/engine-bed.ts";
import { failureOf, startApi, stored } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

test("a message is sent, waited for and listed", async () => {
  const api = await startApi();
  const prompt = api.world.script(call("bash"), gate("held"), call("bash"), say("done"));
  const task = await api.client.launch({ description: "x", prompt, agent: "general" });
  await api.side.host.gate("held").reachedBy(1);
  const answer = await api.post(`/v1/tasks/${task.id}/steer`, { text: "mind the tests" });
  expect(answer.status).toBe(201);
  const first = strict(steeringSchema).parse(await answer.json()) as { id: string };
  expect(first).toMatchObject({ taskId: task.id, run: 0, text: "mind the tests", by: "local user" });
  const waiting = api.client.steer(task.id, { text: "and this", waitMs: 20_000 });
  await expectStates(api, task.id, ["sent", "sent"]);
  api.side.host.gate("held").open();
  const second = await waiting;
  expect([second.state, second.messageID, second.settledAt]).toEqual([
    "delivered",
    expect.stringMatching(/^msg_/),
    expect.any(String),
  ]);
  await ended(api.side, await stored(api, task.id));
  expect((await api.client.steering(task.id)).map(({ text, state }) => [text, state])).toEqual([
    ["mind the tests", "delivered"],
    ["and this", "delivered"],
  ]);
  const late = await failureOf(api.post(`/v1/tasks/${task.id}/steer`, { text: "too late" }));
  expect([late.status, late.code, late.message]).toEqual([409, "task_not_live", expect.stringContaining("Resume it")]);
  const sent = await failureOf(api.post(`/v1/steering/${first.id}/cancel`, {}));
  expect([sent.status, sent.code]).toEqual([409, "not_cancellable"]);
});

test("a message that was not sent yet is cancelled, and never arrives", async () => {
  const api = await startApi();
  const { promise: prompted, resolve: prompt } = Promise.withResolvers<void>();
  const { host } = api.side;
  const real = host.prompt;
  host.prompt = async (...given) => {
    await prompted;
    return real(...given);
  };
  const script = api.world.script(call("bash"), say("done"));
  const task = await api.client.launch({ description: "x", prompt: script, agent: "general" });
  const message = await api.client.steer(task.id, { text: "no" });
  expect(message.state).toBe("accepted");
  const cancelled = await api.client.cancelSteering(message.id);
  expect([cancelled.state, cancelled.reason]).toEqual(["cancelled", "local user"]);
  prompt();
  expect((await ended(api.side, await stored(api, task.id))).run.result).toBe("done");
  expect(api.world.messages(task.sessionID).filter(({ text }) => text === "no")).toEqual([]);
});

test("bad input and unknown ids are refused", async () => {
  const api = await startApi();
  const prompt = api.world.script(gate("never"), say("x"));
  const task = await api.client.launch({ description: "x", prompt, agent: "general" });
  for (const body of [{}, { text: 7 }, { text: "" }, { text: "x".repeat(50_001) }, { text: "x", waitMs: -1 }]) {
    const failure = await failureOf(api.post(`/v1/tasks/${task.id}/steer`, body));
    expect([failure.status, failure.code]).toEqual([400, "invalid_input"]);
  }
  expect((await failureOf(api.post("/v1/tasks/nobody/steer", { text: "x" }))).code).toBe("task_not_found");
  expect((await failureOf(api.post("/v1/steering/nothing/cancel", {}))).code).toBe("not_found");
  expect(await api.client.steering(task.id)).toEqual([]);
});

async function expectStates(api: Awaited<ReturnType<typeof startApi>>, id: string, states: string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = async () => {
    const found = (await api.store.steering(id)).map(({ state }) => state);
    if (found.join() === states.join()) resolve();
  };
  const stop = api.store.onChange(() => void look());
  await look();
  await promise.finally(stop);
}
