import { describe, expect, test } from "bun:test";
import { lastEntryBefore, readTranscript, type TranscriptEntry } from "../../../src/hosts/claude/transcript.ts";

let entries = 0;
const uuid = () => `00000000-0000-4000-8000-${String(1000 - ++entries).padStart(12, "0")}`;
const at = (second: number) => new Date(1_794_000_000_000 + second * 1000).toISOString();

function user(second: number, content: unknown, id = uuid()): TranscriptEntry {
  return { type: "user", uuid: id, timestamp: at(second), message: { role: "user", content } };
}

function assistant(second: number, id: string, block: object, stop_reason = "tool_use"): TranscriptEntry {
  const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { thinking_tokens: 2 } };
  const message = { id, role: "assistant", model: "m", content: [block], stop_reason, usage };
  return { type: "assistant", uuid: uuid(), timestamp: at(second), message };
}

const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string, is_error = false) => [{ type: "tool_result", tool_use_id: id, content: id, is_error }];
const text = (words: string) => ({ type: "text", text: words });

const turn = [
  user(1, "look"),
  assistant(2, "m1", text("I look")),
  assistant(2, "m1", call("one")),
  assistant(2, "m1", call("two")),
  user(3, result("two", true)),
  user(4, result("one")),
  assistant(5, "m2", call("three")),
  user(6, result("three")),
  assistant(7, "m3", text("done"), "end_turn"),
];

describe("a transcript", () => {
  test("has one message per answer, with the results of its tools", () => {
    const [, first, second, third] = readTranscript(turn);
    expect(first?.parts).toMatchObject([
      { type: "text", text: "I look" },
      { callId: "one", state: "completed", output: "one", error: null },
      { callId: "two", state: "error", output: null, error: "two" },
    ]);
    expect(first?.tokens).toMatchObject({ input: 10, output: 3, reasoning: 2 });
    expect([second?.isLast, third?.isLast]).toEqual([false, true]);
  });

  test("has ids that sort, whoever wrote the prompts", () => {
    const time = (1_794_000_010_000).toString(16).padStart(12, "0");
    const ours = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000001`;
    const all = [
      ...turn,
      user(10, "ours", ours),
      assistant(11, "m4", text("yes"), "end_turn"),
      user(12, "a person's"),
      assistant(13, "m5", text("yes"), "end_turn"),
    ];
    const ids = readTranscript(all).map(({ id }) => id);
    expect(ids).toContain(ours);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("distinguishes the CLI's own notes from the words of people and models", () => {
    const refused = { ...assistant(2, "m9", text("API Error: 400 no"), "stop_sequence") };
    refused.message = { ...(refused.message as object), model: "<synthetic>" };
    const [prompt, failed, note] = readTranscript([user(1, "x"), refused, user(3, "[Request interrupted by user]")]);
    expect([prompt?.isNote, failed?.isNote, note?.isNote]).toEqual([false, true, true]);
    expect([failed?.error, failed?.isLast]).toEqual(["API Error: 400 no", false]);
    expect(note?.parts).toMatchObject([{ hidden: true }]);
  });

  test("is cut before a message, keeping the results of the remaining calls", () => {
    const messages = readTranscript(turn);
    expect(lastEntryBefore(messages, messages[2]?.id ?? "")).toBe(turn[5]?.uuid ?? "");
    expect(lastEntryBefore(messages, turn[6]?.uuid ?? "")).toBe(turn[5]?.uuid ?? "");
    expect(lastEntryBefore(messages, messages[0]?.id ?? "")).toBeNull();
  });

  test("is cut before a call without a result if the message is unknown", () => {
    const messages = readTranscript(turn.slice(0, 7));
    expect(lastEntryBefore(messages, "unknown")).toBe(turn[5]?.uuid ?? "");
  });
});
