/**
 * What is kept of OpenCode's events: enough for current runs, and bounded.
 */
import { expect, test } from "bun:test";
import { openCodeHost } from "../../../src/hosts/opencode/opencode-host.ts";
import { Transcripts } from "../../../src/hosts/opencode/transcript.ts";

const prompted = (sessionID: string) =>
  ({ id: `msg_p_${sessionID}`, sessionID, role: "user", time: { created: 1 } }) as const;

function run(transcripts: Transcripts, sessionId: string, chars: number): void {
  const prompt = prompted(sessionId);
  transcripts.begin(sessionId, prompt.id);
  transcripts.addInfo(prompt);
  const answer = { ...prompt, id: `msg_q_${sessionId}`, role: "assistant", time: { created: 2 } } as const;
  transcripts.addInfo(answer);
  transcripts.addPart(sessionId, answer.id, { id: `prt_${sessionId}`, type: "text", text: "x".repeat(chars) });
}

test("all sessions together stay within a bound, and the newest are kept", () => {
  const transcripts = new Transcripts();
  const big = "x".repeat(900_000).length;
  for (let index = 0; index < 400; index++) run(transcripts, `ses_${index}`, big);
  expect(transcripts.chars).toBeLessThanOrEqual(16_000_000);
  expect(transcripts.chars).toBeGreaterThan(8_000_000);
  expect(transcripts.after("ses_0", "msg_p_ses_0")).toBeNull();
  expect(transcripts.after("ses_399", "msg_p_ses_399")).toHaveLength(1);
  for (let index = 0; index < 400; index++) transcripts.end(`ses_${index}`);
  expect(transcripts.chars).toBe(0);
});

test("a run that was seen to end is forgotten, and requested again when needed", async () => {
  const asked: string[] = [];
  const host = openCodeHost({
    send: async ({ method, path }) => {
      asked.push(`${method} ${path}`);
      return { status: 200, data: [], header: () => null };
    },
  });
  const prompt = prompted("ses_1");
  await host.prompt("ses_1", { messageId: prompt.id, text: "go", agent: "build", model: null });
  const answer = {
    id: "msg_q",
    sessionID: "ses_1",
    role: "assistant",
    finish: "stop",
    time: { created: 2, completed: 3 },
  };
  const part = { id: "prt_q", sessionID: "ses_1", messageID: "msg_q", type: "text", text: "done" };
  host.receive({ type: "message.updated", properties: { info: prompt } });
  host.receive({ type: "message.updated", properties: { info: answer } });
  host.receive({ type: "message.part.updated", properties: { part } });
  expect((await host.inspect("ses_1", prompt.id)).answer).toEqual({ text: "done" });
  expect(asked).toEqual(["POST /session/{sessionID}/prompt_async"]);
  await host.inspect("ses_1", prompt.id);
  expect(asked[1]).toBe("GET /session/{sessionID}/message");
});

test("after a gap in the events, an answer is read from OpenCode and not from what was collected", async () => {
  const sessionID = "ses_1";
  const prompt = prompted(sessionID);
  const time = { created: 2, completed: 3 };
  const answer = { id: "msg_q", sessionID, role: "assistant", time, finish: "stop" };
  const tool = {
    id: "prt_1",
    sessionID,
    messageID: "msg_a",
    type: "tool",
    tool: "read",
    state: { status: "completed" },
  };
  const called = { ...answer, id: "msg_a", finish: "tool-calls" };
  const text = { id: "prt_2", sessionID, messageID: answer.id, type: "text", text: "the answer" };
  const stored = [
    { info: prompt, parts: [] },
    { info: called, parts: [tool] },
    { info: answer, parts: [text] },
  ];
  const host = openCodeHost({ send: async () => ({ status: 200, data: stored, header: () => null }) });
  await host.prompt(sessionID, { messageId: prompt.id, text: "go", agent: "build", model: null });
  host.receive({ type: "message.updated", properties: { info: prompt } });
  host.receive({ type: "message.updated", properties: { info: called } });
  host.receive({ type: "message.part.updated", properties: { part: tool } });
  // The event with the text comes while the stream is broken.
  host.missed();
  host.receive({ type: "message.updated", properties: { info: answer } });
  expect((await host.inspect(sessionID, prompt.id)).answer).toEqual({ text: "the answer" });
});
