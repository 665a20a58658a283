/** The hooks of Claude Code's plugin, run as its sessions run them: what a session is told, and what decides that. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claimsIn } from "../../../src/model/notifications/follower.ts";
import { DaemonBed } from "../daemon-bed.ts";
import { HookSession } from "./hook-bed.ts";

let bed: DaemonBed;
const sessions: HookSession[] = [];
beforeAll(async () => {
  bed = await DaemonBed.start();
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});
afterAll(() => bed?.stop());

const WAKE = 2;

interface Launched {
  structuredContent: { handle: string };
}

function newSession(id?: string): HookSession {
  const session = new HookSession(bed, id);
  sessions.push(session);
  return session;
}

/** A task that ends with that text when the gate of the same name is opened; and the hook that waits for it. */
async function launch(session: HookSession, name: string) {
  const input = { prompt: `!wait ${name}\n!say end of ${name}`, executor: "SCRIPTED", directory: bed.root };
  const call = crypto.randomUUID();
  const meta = { "claudecode/toolUseId": call };
  const answer = await session.client.call<Launched>("launch_task", input, false, meta);
  const { handle } = answer.structuredContent;
  const hook = session.hook("launch", { tool_use_id: call, tool_response: answer.structuredContent });
  return { handle, hook, open: () => writeFile(join(bed.root, name), "") };
}

/** One whose end a hook has told. */
async function told(session: HookSession, name: string) {
  const { handle, hook, open } = await launch(session, name);
  await open();
  const { code, text } = await hook;
  expect({ code, says: text.includes(`end of ${name}`) }).toEqual({ code: WAKE, says: true });
  const [claim = ""] = claimsIn(text);
  return { handle, claim, text };
}

const asUser = (content: unknown) => ({ type: "user", message: { role: "user", content } });

test("what the session's prompt names is read, and a session that starts again has nothing to be told", async () => {
  const session = newSession();
  const { handle, text } = await told(session, "prompted");
  expect(await session.notice(handle)).toMatchObject({ state: "sending" });
  expect(await session.hook("prompt", { prompt: text })).toMatchObject({ code: 0, text: "" });
  expect(await session.notice(handle)).toMatchObject({ state: "delivered", reason: "its session has read it" });
  await session.restart();
  expect(await session.hook("start")).toEqual({ code: 0, text: "" });
});

test("a session that ended before it noted what it read is not told again: its transcript has it", async () => {
  const session = newSession();
  const { handle, text } = await told(session, "left");
  await session.write([asUser(text)]);
  await session.restart();
  expect(await session.hook("start")).toEqual({ code: 0, text: "" });
  expect(await session.notice(handle)).toMatchObject({ state: "delivered", attempts: 1 });
});

test("what the transcript does not have, has in a queue only, or in the answer of a tool, is told again", async () => {
  for (const [index, lines] of [
    () => [],
    (text: string) => [{ type: "queue-operation", operation: "enqueue", content: text }],
    (text: string) => [asUser([{ type: "tool_result", content: text }])],
  ].entries()) {
    const session = newSession();
    const { handle, claim, text } = await told(session, `again${index}`);
    await session.write(lines(text));
    await session.restart();
    const second = await session.hook("start");
    expect({ code: second.code, says: second.text.includes(`end of again${index}`) }).toEqual({
      code: WAKE,
      says: true,
    });
    expect(claimsIn(second.text)).not.toEqual([claim]);
    expect(await session.notice(handle)).toMatchObject({ state: "sending", attempts: 2 });
  }
});

test("two processes with the same session: the second leaves alone what the first is about to read", async () => {
  const first = newSession();
  const { handle, text } = await told(first, "shared");
  const second = newSession(first.id);
  const waiting = second.hook("start");
  await first.hook("prompt", { prompt: text });
  expect(await waiting).toEqual({ code: 0, text: "" });
  expect(await first.notice(handle)).toMatchObject({ state: "delivered", attempts: 1 });
});

test("a hook that is killed while it waits takes no end with it", async () => {
  const session = newSession();
  const { handle, hook, open } = await launch(session, "killed");
  hook.kill();
  await hook;
  const next = session.hook("prompt", { prompt: "next" });
  await open();
  expect((await next).text).toContain("end of killed");
  expect(await session.notice(handle)).toMatchObject({ attempts: 1 });
});

test("what a model has read with wait_tasks is not told by hooks", async () => {
  const session = newSession();
  const { handle, hook, open } = await launch(session, "waited");
  const reading = session.client.call("wait_tasks", { handles: [handle], wait_ms: 20_000 }, false);
  await open();
  await reading;
  expect(await hook).toEqual({ code: 0, text: "" });
  expect(await session.notice(handle)).toMatchObject({ state: "delivered", reason: "its model has read the result" });
});

test("whoever asks for another session's end does not keep that session from being told", async () => {
  const session = newSession();
  const { handle, hook, open } = await launch(session, "private");
  const other = newSession();
  const asked = other.client.call("wait_tasks", { handles: [handle], wait_ms: 20_000 }, false);
  await open();
  await asked;
  expect(await other.client.get(handle)).toMatchObject({ status: "completed" });
  expect((await hook).text).toContain("end of private");
  expect(await session.notice(handle)).toMatchObject({ state: "sending" });
});

test("a follow-up is told to the session that sent it, once; one that a person sends is not", async () => {
  const session = newSession();
  const tools = await bed.http();
  const { project_id } = await tools.call("add_project", { name: "Shop" });
  const { repo_id } = await tools.call("add_repo", { project_id, path: bed.repository });
  const { task_id } = await tools.call("create_task", { project_id, title: "Try", description: "!say tried" });
  const repos = [{ repo_id, target_branch: "main" }];
  const meta = (call: string) => ({ "claudecode/toolUseId": call });
  const start = { task_id, executor: "SCRIPTED", repos };
  const { structuredContent } = await session.client.call<{ structuredContent: { attempt_id: string } }>(
    "start_task_attempt",
    start,
    false,
    meta("start"),
  );
  const { attempt_id } = structuredContent;
  const first = await session.hook("launch", { tool_use_id: "start" });
  expect(first.text).toContain(`Attempt ${attempt_id} completed`);
  await session.hook("prompt", { prompt: first.text });
  const send = (prompt: string) => ({ attempt_id, action: "send", prompt });
  await session.client.call("follow_up", send("!say and again"), false, meta("follow"));
  const second = await session.hook("launch", { tool_use_id: "follow" });
  expect(second.code).toBe(WAKE);
  expect(second.text).toContain("and again");
  expect(second.text).toContain(`Attempt ${attempt_id}.1 completed`);
  expect(second.text).not.toContain("tried");
  await session.hook("prompt", { prompt: second.text });
  await tools.call("follow_up", send("!say by a person") as never);
  await tools.call("get_attempt", { attempt_id, wait_ms: 20_000 });
  expect(await session.hook("prompt", { prompt: "next" })).toEqual({ code: 0, text: "" });
  // As an MCP task.
  const { taskId } = await session.client.call("follow_up", send("!say as a task"));
  expect(taskId).toBe(`${attempt_id}.3`);
  expect((await session.client.ended(taskId)).result?.structuredContent).toMatchObject({ result: "as a task" });
  expect(await session.client.get(`${attempt_id}.9`).catch((thrown: unknown) => thrown)).toMatchObject({
    code: -32602,
  });
});
