import { describe, expect, test } from "bun:test";
import { evidenceOf } from "../../../src/hosts/opencode/evidence.ts";
import type { WireInfo, WireMessage, WirePart } from "../../../src/hosts/opencode/wire.ts";

let ids = 0;
const part = (fields: Partial<WirePart> & { type: string }): WirePart => ({ id: `prt_${++ids}`, ...fields });
const text = (content: string, fields: Partial<WirePart> = {}) => part({ type: "text", text: content, ...fields });
const tool = (name: string, status: string, fields: { output?: string; error?: string } = {}) =>
  part({ type: "tool", tool: name, callID: `call_${ids}`, state: { status, ...fields } });

function assistant(parts: WirePart[], info: Partial<WireInfo> = {}): WireMessage {
  const time = { created: 1000, completed: 2000 };
  return { info: { id: `msg_${++ids}`, sessionID: "ses", role: "assistant", time, finish: "stop", ...info }, parts };
}

function user(content: string): WireMessage {
  return { info: { id: `msg_${++ids}`, sessionID: "ses", role: "user", time: { created: 1 } }, parts: [text(content)] };
}

const step = (parts: WirePart[]) => assistant(parts, { finish: "tool-calls" });
const failed = (name: string, message: string) => assistant([], { error: { name, data: { message } } });

describe("evidence from OpenCode's messages", () => {
  test("a finished answer belongs to the run, with only its own text", () => {
    const answer = assistant([text("hidden", { synthetic: true }), text("gone", { ignored: true }), text(" done \n")]);
    expect(evidenceOf([answer], true)).toMatchObject({ answer: { text: "done" }, begun: true, worked: true });
  });

  test("a stack trace in OpenCode's message is not part of the error", () => {
    const said = "Model not found: foo/bar. Did you mean: foo/baz?\nLook again.";
    const trace =
      "\n    at <anonymous> (/$bunfs/root/chunk-1.js:439:94416)\n    at SessionPrompt.loop (definition) (x.js:1:2)";
    const { error } = evidenceOf([failed("UnknownError", said + trace)], true);
    expect(error?.message).toBe(`UnknownError: ${said}`);
  });

  test("steps with tools lead to the answer, and are counted", () => {
    const tokens = { input: 10, output: 2, reasoning: 1, cache: { read: 3, write: 4 } };
    const messages = [
      assistant([tool("bash", "completed"), tool("read", "error", { error: "x" })], {
        finish: "tool-calls",
        tokens,
        cost: 0.5,
      }),
      assistant([text("done")], { tokens, cost: 0.25, time: { created: 3000, completed: 4000 } }),
    ];
    const evidence = evidenceOf(messages, true);
    expect(evidence).toMatchObject({ answer: { text: "done" }, stoppedAt: null });
    expect(evidence.progress).toEqual({
      toolCalls: 2,
      toolCallsByName: { bash: 1, read: 1 },
      lastTools: ["bash", "read"],
      lastUpdate: 4000,
      tokens: { input: 20, output: 4, reasoning: 2, cacheRead: 6, cacheWrite: 8 },
      cost: 0.75,
    });
  });

  test("an empty answer did no work; tool calls alone are work [AT-F-07]", () => {
    expect(evidenceOf([assistant([])], true)).toMatchObject({ answer: { text: "" }, worked: false });
    const messages = [step([tool("bash", "completed")]), assistant([])];
    expect(evidenceOf(messages, true)).toMatchObject({ answer: { text: "" }, worked: true });
  });

  test("an error is shown with its name; an abort is distinguished", () => {
    const error = evidenceOf([failed("APIError", "no credit")], true);
    expect(error).toMatchObject({ answer: null, error: { message: "APIError: no credit", aborted: false } });
    const aborted = evidenceOf([failed("MessageAbortedError", "aborted")], true);
    expect(aborted.error?.aborted).toBe(true);
  });

  test("an unfinished message, as after a kill, only shows that the answer was begun", () => {
    const unfinished = assistant([text("half a sent")], { time: { created: 1000 } });
    delete unfinished.info.finish;
    expect(evidenceOf([unfinished], true)).toMatchObject({ begun: true, worked: true, answer: null, error: null });
  });

  test("a message that is being written beside an answer is told: another process works in the same session", () => {
    const writing = assistant([text("half a sent")], { time: { created: 1000 } });
    delete writing.info.finish;
    const answer = assistant([text("done")]);
    for (const messages of [
      [writing, answer],
      [answer, writing],
    ]) {
      expect(evidenceOf(messages, true)).toMatchObject({ answer: { text: "done" }, unfinished: true });
    }
    expect(evidenceOf([answer, user("and now?"), writing], true).unfinished).toBe(false);
  });

  test("a step that only called tools is not an answer, even if it says that it stopped", () => {
    expect(evidenceOf([step([tool("bash", "completed")])], true).answer).toBeNull();
    expect(evidenceOf([assistant([tool("bash", "completed")])], true).answer).toBeNull();
  });

  test("a run stops at a rejected call", () => {
    const refused = step([tool("bash", "error", { error: "The user rejected permission" })]);
    expect(evidenceOf([refused], true).stoppedAt).toEqual({ tool: "bash", message: "The user rejected permission" });
  });

  test("messages after the answer do not count", () => {
    const messages = [assistant([text("ours")]), user("and now?"), failed("APIError", "theirs")];
    expect(evidenceOf(messages, true)).toMatchObject({ answer: { text: "ours" }, error: null });
  });

  test("a prompt by a person after an error or a crash does not count", () => {
    const later = [user("go on"), assistant([text("theirs")])];
    const error = evidenceOf([failed("APIError", "ours"), ...later], true);
    expect(error).toMatchObject({ answer: null, error: { message: "APIError: ours" }, worked: false });
    const unfinished = assistant([], { time: { created: 1 } });
    expect(evidenceOf([unfinished, ...later], true)).toMatchObject({ answer: null, begun: true, worked: false });
  });

  test("a message that a person adds during the run does not end it", () => {
    const messages = [step([tool("bash", "completed")]), user("hurry up"), assistant([text("done")])];
    expect(evidenceOf(messages, true).answer).toEqual({ text: "done" });
  });

  test("a summary counts as work, but is not an answer", () => {
    const summary = assistant([text("so far…")], { summary: true, tokens: { input: 7 } });
    const evidence = evidenceOf([step([tool("bash", "completed")]), summary], true);
    expect(evidence.answer).toBeNull();
    expect(evidence.progress.tokens.input).toBe(7);
    const gone = evidenceOf([summary, user("Continue"), assistant([text("done")])], true);
    expect(gone.answer).toEqual({ text: "done" });
  });

  test("without the prompt there is no evidence", () => {
    expect(evidenceOf([], false)).toMatchObject({ prompted: false, begun: false, worked: false, answer: null });
  });
});
