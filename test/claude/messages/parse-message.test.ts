import { describe, expect, test } from "bun:test";
import { MessageParseError } from "../../../src/claude/errors.ts";
import type { TaskNotificationMessage } from "../../../src/claude/messages/message-schemas.ts";
import { isMessage, isSuccess, parseMessage } from "../../../src/claude/messages/parse-message.ts";
import { subagentStartSchema, subagentStopSchema } from "../../../src/claude/tasks/hook-inputs.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { listed, notified, progress, recorded, type Sample, started, updated } from "./sample-messages.ts";

/** The notification of the plan, which is that of an older version. */
const PLAIN = {
  type: "system",
  subtype: "task_notification",
  task_id: "task_123",
  status: "completed",
  output_file: "/tmp/output.txt",
  summary: "Analysis complete",
  uuid: "uuid-123",
  session_id: "sess-456",
};

function failureOf(value: unknown): MessageParseError {
  try {
    parseMessage(value);
  } catch (thrown) {
    if (thrown instanceof MessageParseError) return thrown;
  }
  throw new Error("It was parsed.");
}

function changed(sample: Sample, changes: Record<string, unknown>): unknown {
  return { ...sample, ...changes };
}

describe("a task notification", () => {
  test("is parsed to its type, with older and newer fields [CT-01]", () => {
    const message = parseMessage(PLAIN);
    if (!isMessage(message, "task_notification")) throw new Error("It is something else.");
    const typed: TaskNotificationMessage = message;
    const { task_id, status, output_file, summary, uuid, session_id } = typed;
    expect({ task_id, status, output_file, summary, uuid, session_id, type: typed.type }).toEqual({
      task_id: "task_123",
      status: "completed",
      output_file: "/tmp/output.txt",
      summary: "Analysis complete",
      uuid: "uuid-123",
      session_id: "sess-456",
      type: "system",
    });
    const newer = parseMessage(notified("a", "run", { tool_use_id: "toolu_1", brand_new: [1] }));
    expect(newer).toMatchObject({ run_id: "run", tool_use_id: "toolu_1", usage: { tool_uses: 1 }, brand_new: [1] });
  });

  test.each([
    ["completed", true],
    ["failed", false],
    ["stopped", false],
  ])("with status %s is a success: %p [CT-02]", (status, success) => {
    const message = parseMessage({ ...PLAIN, status });
    expect(isMessage(message, "task_notification") && isSuccess(message)).toBe(success);
  });
});

describe("other messages", () => {
  test("init and compact_boundary have their own types, and unknown messages pass through [CT-03]", () => {
    const base = { type: "system", uuid: "u", session_id: "s" };
    const init = parseMessage({
      ...base,
      subtype: "init",
      cwd: "/x",
      tools: ["Bash"],
      model: "m",
      permissionMode: "plan",
    });
    expect(isMessage(init, "init") && init.tools).toEqual(["Bash"]);
    const boundary = parseMessage({
      ...base,
      subtype: "compact_boundary",
      compact_metadata: { trigger: "auto", pre_tokens: 7, later: true },
    });
    expect<unknown>(isMessage(boundary, "compact_boundary") && boundary.compact_metadata).toEqual({
      trigger: "auto",
      pre_tokens: 7,
      later: true,
    });
    const unknown = { ...base, subtype: "of_tomorrow", task_id: 5 };
    expect(parseMessage(unknown)).toEqual(unknown);
    expect<unknown>(parseMessage({ type: "assistant", message: {} })).toEqual({ type: "assistant", message: {} });
  });

  test("all messages of a real CLI are parsed, and none loses a field", () => {
    const messages = [...recorded.values()].flat();
    expect(messages.length).toBeGreaterThan(100);
    for (const message of messages) expect(parseMessage(message) as unknown).toEqual(message);
  });
});

describe("a malformed message", () => {
  test.each<[string, unknown, string]>([
    ["an unknown status", changed(notified("a"), { status: "finished" }), "status"],
    ["no task id", changed(notified("a"), { task_id: undefined }), "task_id"],
    ["an empty task id", changed(started("a"), { task_id: "" }), "task_id"],
    ["no changes", changed(updated("a", "r", {}), { patch: 7 }), "patch"],
    ["a wrong field inside a field", changed(listed(["a"]), { tasks: [{ task_id: 7 }] }), "tasks.0.task_id"],
    ["no type", { subtype: "task_notification" }, "type"],
    ["no object", "task_notification", ""],
    ["null", null, ""],
  ])("with %s is an error that names the field [CT-04]", (_what, value, field) => {
    const error = failureOf(value);
    expect([error.field, error.code, error.name]).toEqual([field, "message_malformed", "MessageParseError"]);
    expect(AsyncAgentsError.isInstance(error)).toBe(true);
    expect(error.message).toContain(field === "" ? "the message itself" : `the field ${field}`);
  });
});

describe("an optional field", () => {
  const WORDS = ["type", "subtype", "task_id", "status", "patch", "tasks"];
  const samples = [...recorded.values()].flat().filter(({ type }) => type === "system" || type === "result");
  const fields = samples.flatMap((sample) => Object.keys(sample).map((field): [Sample, string] => [sample, field]));
  const unneeded = fields.filter(([, field]) => !WORDS.includes(field));

  test.each([
    ["is missing", undefined],
    ["has another type", { of: "tomorrow" }],
    ["is an unknown value", "of_tomorrow"],
  ])("that %s does not invalidate a message of a real CLI", (_how, value) => {
    expect(unneeded.length).toBeGreaterThan(500);
    for (const [sample, field] of unneeded) {
      const read = parseMessage({ ...sample, [field]: value });
      expect([read.type, read.subtype]).toEqual([sample.type, sample.subtype ?? ""]);
    }
  });

  test("is left out if it cannot be parsed, and the rest is kept", () => {
    const message = parseMessage(
      changed(progress("a", "r", 5), { usage: { total_tokens: "many" }, last_tool_name: 5 }),
    );
    expect(isMessage(message, "task_progress") && [message.usage, message.last_tool_name]).toEqual([
      undefined,
      undefined,
    ]);
    const change = parseMessage(updated("a", "r", { status: "asleep", error: "odd" }));
    expect(isMessage(change, "task_updated") && change.patch).toEqual({ status: undefined, error: "odd" });
  });
});

test("the inputs of the subagent hooks are parsed, including newer fields", () => {
  const base = { session_id: "s", transcript_path: "/t", cwd: "/c", agent_id: "a", agent_type: "x", later: 1 };
  expect(subagentStartSchema.parse({ ...base, hook_event_name: "SubagentStart" })).toMatchObject(base);
  const stop = { ...base, hook_event_name: "SubagentStop", stop_hook_active: false, agent_transcript_path: "/a" };
  expect(subagentStopSchema.parse(stop)).toMatchObject(stop);
  expect(subagentStopSchema.safeParse({ ...stop, agent_id: undefined }).success).toBe(false);
});
