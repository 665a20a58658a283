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
