import { expect, test } from "bun:test";
import type { HostEvent } from "../../../src/hosts/host.ts";
import { call, gate, markerOf, pause, say } from "../../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";

hostConformance("scripted", async () => {
  const host = scriptedHost({ agents: ["general"] });
  return {
    host,
    agent: "general",
    script: host.script,
    gate: host.gate,
    openSession: async () => host.openSession(),
    deleteSession: host.deleteSession,
    close: async () => host.crash(),
  };
});

const prompt = { text: "", agent: "general", model: null };

test("two hosts on the same sessions are like two processes: each knows only its own turns and events", async () => {
  const one = scriptedHost();
  const other = scriptedHost({ sessions: one.sessions });
  const heard: HostEvent[] = [];
  other.onEvent((event) => heard.push(event));
  const session = one.openSession();
  one.script("held", [gate("door"), say("done")]);
  const messageId = one.newMessageId();
  await one.prompt(session, { ...prompt, messageId, text: markerOf("held") });
  await one.gate("door").reachedBy(1);
  expect([(await one.statuses()).size, (await other.statuses()).size]).toEqual([1, 0]);
  expect((await other.inspect(session, messageId)).begun).toBe(true);
  expect(heard).toEqual([]);
  one.crash();
});

test("a host that dies leaves its message unfinished, and the other one sees that", async () => {
  const one = scriptedHost();
  const session = one.openSession();
  one.script("held", [call("bash"), gate("door"), say("done")]);
  const messageId = one.newMessageId();
  await one.prompt(session, { ...prompt, messageId, text: markerOf("held") });
  await one.gate("door").reachedBy(1);
  one.crash();
  one.gate("door").open();
  const other = scriptedHost({ sessions: one.sessions });
  const later = other.newMessageId();
  other.script("later", [say("to the person")]);
  const idle = new Promise<void>((resolve) => other.onEvent((event) => event.type === "session.idle" && resolve()));
  await other.prompt(session, { ...prompt, messageId: later, text: markerOf("later") });
  await idle;
  expect(await other.inspect(session, messageId)).toMatchObject({
    begun: true,
    worked: true,
    answer: null,
    error: null,
  });
  expect((await other.inspect(session, later)).answer).toEqual({ text: "to the person" });
});

test("an abort ends a pause at once, and a script continues with the next prompt", async () => {
  const host = scriptedHost();
  const session = host.openSession();
  host.script("slow", [pause(3_600_000), say("late"), say("next")]);
  const taken = new Promise<void>((resolve) => host.onEvent((event) => event.type === "message.taken" && resolve()));
  await host.prompt(session, { ...prompt, messageId: host.newMessageId(), text: markerOf("slow") });
  await taken;
  await host.abort(session);
  const idle = new Promise<void>((resolve) => host.onEvent((event) => event.type === "session.idle" && resolve()));
  const messageId = host.newMessageId();
  await host.prompt(session, { ...prompt, messageId, text: "go on" });
  await idle;
  expect((await host.inspect(session, messageId)).answer).toEqual({ text: "next" });
});

test("a prompt that names an unknown script fails with a message that says so", async () => {
  const host = scriptedHost();
  const session = host.openSession();
  const messageId = host.newMessageId();
  const idle = new Promise<void>((resolve) => host.onEvent((event) => event.type === "session.idle" && resolve()));
  await host.prompt(session, { ...prompt, messageId, text: markerOf("nowhere") });
  await idle;
  expect((await host.inspect(session, messageId)).error?.message).toContain('There is no script "nowhere"');
});
