/**
 * What agents of the real OpenCode ask: it is in the inbox and answered from there, by a person or by a written policy,
 * and by nobody else; and what becomes of it when the process is killed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "../../../src/client/client.ts";
import { call, say } from "../../../src/testing/models/script.ts";
import { type Parent, World } from "../world.ts";

const POLICIES = [
  { tool: "bash", pattern: "echo allowed*", decision: "allow" },
  { tool: "bash", pattern: "echo denied*", decision: "deny", reason: "Not in this house." },
  { tool: "bash", pattern: "echo slow*", decision: "ask", minutes: 0.02, otherwise: "deny" },
];

let world: World;
let parent: Parent;
beforeAll(async () => {
  world = await World.start({ permission: { "*": "allow", bash: "ask" }, options: { policies: POLICIES } });
  parent = await world.parent();
});
afterAll(() => world?.stop());

const shell = (command: string) => call("bash", { command, description: "x" });

/** A task that waits, with its entry in the inbox. */
async function asking(command: string) {
  const id = await parent.launch([shell(command), say("went on")]);
  await world.until(id, ({ phase }) => phase === "waiting", "waiting");
  const { client } = await world.api();
  const entry = (await client.inbox()).entries.find(({ taskId }) => taskId === id);
  if (!entry?.requestId) throw new Error("it is not in the inbox");
  return { id, client, entry, requestId: entry.requestId };
}

/** What the agent's first tool call came to, as its next request to the model has it. */
async function told(id: string): Promise<string> {
  const { client } = await world.api();
  const { messages } = await client.logs(id);
  return JSON.stringify(messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool")));
}

async function receipts(id: string): Promise<string[]> {
  const entries = await world.store.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER });
  return entries.flatMap(({ event }) => {
    if (event.type === "run.phased" && event.detail && event.detail.kind !== "retrying") return [event.detail.kind];
    return event.type.startsWith("request.") ? [event.type] : [];
  });
}

test("a permission is in the inbox, and its answer from there is applied, with receipts", async () => {
  const { id, client, entry, requestId } = await asking("echo hello");
  expect(entry).toMatchObject({
    kind: "permission",
    text: "bash: echo hello",
    host: "opencode",
    seen: [],
    policy: null,
  });
  await client.seen(id, { requestId, via: "dashboard" });
  await client.answer(id, { kind: "permission", decision: "once", requestId, via: "dashboard" });
  expect(await world.ended(id)).toMatchObject({
    status: "completed",
    phaseDetail: { kind: "answered", by: "dashboard", appliedAt: expect.any(Number) },
  });
  expect(await receipts(id)).toEqual(["waiting", "request.seen", "answered", "request.applied"]);
  expect((await client.inbox()).entries).toEqual([]);
});

test("a question is in the inbox, and answered from there", async () => {
  const question = { question: "Which colour?", header: "Colour", options: [{ label: "red", description: "r" }] };
  const id = await parent.launch([call("question", { questions: [question] }), say("thanks")]);
  await world.until(id, ({ phase }) => phase === "waiting", "waiting");
  const { client } = await world.api();
  const [entry] = (await client.inbox()).entries;
  expect(entry).toMatchObject({ kind: "question", text: "Which colour?", taskId: id, answers: ["text", "decline"] });
  await client.answer(id, { kind: "question", answers: ["blue"], requestId: entry?.requestId ?? "" });
  expect(await world.ended(id)).toMatchObject({ status: "completed", phaseDetail: { reply: "answered", by: "api" } });
  expect(await told(id)).toContain("blue");
});

test("a policy allows at once, and nobody is bothered", async () => {
  const id = await parent.launch([shell("echo allowed"), say("went on")]);
  expect(await world.ended(id)).toMatchObject({
    run: { result: "went on" },
    phaseDetail: { reply: "allowed once", by: "policy", appliedAt: expect.any(Number) },
  });
  expect(await receipts(id)).toEqual(["answered", "request.applied"]);
  expect(await told(id)).toContain("allowed");
});

test("a chained command does not slip through a policy that allows its beginning", async () => {
  const { id, client } = await asking("echo allowed && touch slipped");
  expect((await world.task(id)).phaseDetail).toMatchObject({ kind: "waiting" });
  await client.cancel(id);
});

test("a policy denies, the agent is told why and continues", async () => {
  const id = await parent.launch([shell("echo denied"), say("without it")]);
  expect(await world.ended(id)).toMatchObject({
    status: "completed",
    run: { result: "without it" },
    phaseDetail: { reply: "rejected", by: "policy" },
  });
  expect(await told(id)).toContain("A policy denies this. Not in this house.");
});

test("a policy applies its default when nobody answers in time", async () => {
  const { id, entry } = await asking("echo slow");
  expect(entry.policy).toMatchObject({ decision: "deny" });
  expect(await world.ended(id)).toMatchObject({ run: { result: "went on" }, phaseDetail: { by: "policy" } });
  expect(await told(id)).toContain("Nobody answered within 0.02 minutes. A policy denies this.");
});

test("neither a model, nor an agent's command, nor a page from elsewhere answers a permission", async () => {
  const { id, client, requestId } = await asking("echo mine");
  const { url, token } = await world.api();
  const grant = { kind: "permission", decision: "once", requestId } as const;
  for (const origin of [
    { door: "model", depth: 0 },
    { door: "person", depth: 1 },
    { door: "person", depth: null },
  ] as const) {
    const agent = createClient({ url, token, origin });
    await expect(agent.answer(id, grant)).rejects.toMatchObject({ code: "not_allowed" });
    await expect(agent.seen(id, { requestId })).rejects.toMatchObject({ code: "not_allowed" });
  }
  const send = (headers: Record<string, string>) =>
    fetch(`${url}/v1/tasks/${id}/answer`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(grant),
    });
  const bearer = { authorization: `Bearer ${token}` };
  expect((await send({ origin: "https://evil.example" })).status).toBeGreaterThanOrEqual(401);
  expect((await send({ origin: "https://evil.example", ...bearer })).status).toBe(403);
  expect((await send({})).status).toBe(401);
  expect((await world.task(id)).phase).toBe("waiting");
  await client.answer(id, { ...grant, decision: "reject" });
  await world.ended(id);
});

test("killed between the question and the answer, the run is interrupted, and nothing is asked any more", async () => {
  const dying = await World.start({ model: world.model, permission: { "*": "allow", bash: "ask" } });
  let next: World | undefined;
  try {
    const id = await (await dying.parent()).launch([shell("echo late"), say("never")]);
    await dying.until(id, ({ phase }) => phase === "waiting", "waiting");
    const { client } = await dying.api();
    const [entry] = (await client.inbox()).entries;
    await dying.opencode.kill("SIGKILL");
    next = await World.start({
      model: world.model,
      home: dying.opencode.home,
      permission: { "*": "allow", bash: "ask" },
    });
    await next.parent();
    expect(await next.ended(id)).toMatchObject({ status: "error" });
    const api = await next.api();
    expect((await api.client.inbox()).entries).toEqual([]);
    const late = { kind: "permission", decision: "once", requestId: entry?.requestId ?? "" } as const;
    await expect(api.client.answer(id, late)).rejects.toMatchObject({ code: "nothing_asked" });
  } finally {
    await next?.stop();
    await dying.stop();
  }
});
