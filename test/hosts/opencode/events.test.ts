import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HostEvent } from "../../../src/hosts/host.ts";
import { readEvents } from "../../../src/hosts/opencode/events.ts";

const sessionID = "ses_1";
const event = (type: string, properties: Record<string, unknown>) => ({ id: "evt_1", type, properties });
const message = (info: Record<string, unknown>) => event("message.updated", { sessionID, info });
const tokens = { input: 5, output: 4, reasoning: 3, cache: { read: 2, write: 1 } };

const known: [string, object, HostEvent[]][] = [
  ["idle", event("session.idle", { sessionID }), [{ type: "session.idle", sessionId: sessionID }]],
  [
    "a busy status",
    event("session.status", { sessionID, status: { type: "busy" } }),
    [{ type: "session.working", sessionId: sessionID }],
  ],
  [
    "a retry",
    event("session.status", { sessionID, status: { type: "retry", attempt: 3, message: "overloaded", next: 9 } }),
    [{ type: "session.retrying", sessionId: sessionID, reason: "overloaded", count: 3, next: 9 }],
  ],
  [
    "an idle status, which comes with session.idle",
    event("session.status", { sessionID, status: { type: "idle" } }),
    [],
  ],
  [
    "an error",
    event("session.error", { sessionID, error: { name: "APIError", data: { message: "no credit" } } }),
    [{ type: "session.failed", sessionId: sessionID, error: "APIError: no credit", aborted: false }],
  ],
  ["an error without a session", event("session.error", { error: { name: "APIError" } }), []],
  [
    "a child session",
    event("session.created", { info: { id: "ses_2", parentID: sessionID } }),
    [{ type: "session.opened", sessionId: "ses_2", parentSessionId: sessionID }],
  ],
  ["a session without a parent", event("session.created", { info: { id: "ses_2" } }), []],
  [
    "a deleted session",
    event("session.deleted", { info: { id: "ses_2" } }),
    [{ type: "session.deleted", sessionId: "ses_2" }],
  ],
  [
    "a permission",
    event("permission.asked", { id: "per_1", sessionID, permission: "bash", patterns: ["rm *", "mv *"] }),
    [
      {
        type: "session.asked",
        sessionId: sessionID,
        requestId: "per_1",
        asks: "permission",
        text: "bash: rm *, mv *",
        tool: { name: "bash", subjects: ["rm *", "mv *"] },
      },
    ],
  ],
  [
    "a permission for a file",
    event("permission.asked", { id: "per_2", sessionID, permission: "edit", patterns: ["src/a"] }),
    [
      {
        type: "session.asked",
        sessionId: sessionID,
        requestId: "per_2",
        asks: "permission",
        text: "edit: src/a",
        tool: { name: "edit", subjects: ["src/a"], isNoCommand: true },
      },
    ],
  ],
  [
    "a question",
    event("question.asked", { id: "que_1", sessionID, questions: [{ question: "Which?" }, { question: "When?" }] }),
    [
      {
        type: "session.asked",
        sessionId: sessionID,
        requestId: "que_1",
        asks: "question",
        text: "1. Which?\n2. When?",
      },
    ],
  ],
  ...(
    [
      ["permission.replied", "once", "allowed once"],
      ["permission.replied", "always", "always allowed"],
      ["permission.replied", "reject", "rejected"],
      ["question.replied", undefined, "answered"],
      ["question.rejected", undefined, "turned down"],
    ] as const
  ).map(([type, said, reply]): [string, object, HostEvent[]] => [
    `${type} ${said ?? ""}`,
    event(type, { sessionID, requestID: "req_1", reply: said }),
    [{ type: "session.answered", sessionId: sessionID, requestId: "req_1", reply }],
  ]),
  [
    "an unknown reply",
    event("permission.replied", { sessionID, requestID: "req_1", reply: "perhaps" }),
    [{ type: "session.answered", sessionId: sessionID, requestId: "req_1" }],
  ],
  [
    "a user message",
    message({ id: "msg_1", sessionID, role: "user", time: { created: 1 } }),
    [{ type: "message.added", sessionId: sessionID, messageId: "msg_1" }],
  ],
  [
    "an answer that starts",
    message({ id: "msg_2", parentID: "msg_1", sessionID, role: "assistant", time: { created: 1 } }),
    [{ type: "message.taken", sessionId: sessionID, messageId: "msg_1" }],
  ],
  [
    "an answer that is finished in its first event",
    message({
      id: "msg_2",
      parentID: "msg_1",
      sessionID,
      role: "assistant",
      time: { created: 1, completed: 2 },
      tokens,
      cost: 0.5,
    }),
    [
      { type: "message.taken", sessionId: sessionID, messageId: "msg_1" },
      {
        type: "usage.counted",
        sessionId: sessionID,
        messageId: "msg_2",
        answers: "msg_1",
        cost: 0.5,
        tokens: { input: 5, output: 4, reasoning: 3, cacheRead: 2, cacheWrite: 1 },
      },
    ],
  ],
  [
    "a tool that runs",
    event("message.part.updated", {
      part: {
        sessionID,
        type: "tool",
        callID: "call_1",
        tool: "bash",
        state: { status: "running", input: { command: "ls" } },
      },
    }),
    [{ type: "tool.called", sessionId: sessionID, callId: "call_1", name: "bash", input: { command: "ls" } }],
  ],
  [
    "a tool that failed",
    event("message.part.updated", {
      part: { sessionID, type: "tool", callID: "call_1", tool: "bash", state: { status: "error", input: {} } },
    }),
    [
      { type: "tool.called", sessionId: sessionID, callId: "call_1", name: "bash", input: {} },
      { type: "tool.ended", sessionId: sessionID, callId: "call_1", isFailed: true },
    ],
  ],
  [
    "a tool that is only being written",
    event("message.part.updated", { part: { sessionID, type: "tool", tool: "bash", state: { status: "pending" } } }),
    [],
  ],
  [
    "a text",
    event("message.part.updated", { part: { sessionID, type: "text", text: "x" } }),
    [{ type: "text.written", sessionId: sessionID }],
  ],
  [
    "a fragment of text",
    event("message.part.delta", { sessionID, delta: "x" }),
    [{ type: "text.written", sessionId: sessionID }],
  ],
  ["something else", event("file.edited", { file: "x" }), []],
  ["a name from Object.prototype", event("toString", { sessionID }), []],
];

describe("OpenCode's events", () => {
  for (const [name, raw, expected] of known) {
    test(name, () => expect(readEvents(raw)).toEqual(expected));
  }

  const types = [...new Set(known.map(([, raw]) => (raw as { type: string }).type))];
  const names = ["sessionID", "info", "id", "parentID", "status", "type", "error", "data", "message", "part", "state"];
  const more = ["questions", "patterns", "permission", "tokens", "cache", "time", "role", "attempt", "requestID"];
  const anything = fc.anything({ withNullPrototype: true, withBigInt: true, maxDepth: 3 });
  const nested = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      anything,
      fc.constantFrom("user", "assistant", "tool", "text", "busy", "retry", sessionID),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names, ...more), tie("value"), { maxKeys: 6 }),
    ),
  })).value;
  const malformed = fc.oneof(
    anything,
    fc.record({ type: fc.oneof(fc.constantFrom(...types), anything), properties: nested }),
  );

  test("no input throws, and every result has the declared shape", () => {
    fc.assert(
      fc.property(malformed, (raw) => {
        for (const read of readEvents(raw)) {
          expect("sessionId" in read && read.sessionId).toBeTruthy();
          for (const [field, value] of Object.entries(read)) {
            if (field === "tokens") for (const count of Object.values(value as object)) expect(count).toBeNumber();
            else if (field === "count" || field === "cost") expect(value).toBeNumber();
            else if (field === "tool") expect(value).toEqual({ name: expect.any(String), subjects: expect.any(Array) });
            else if (field === "aborted") expect(value).toBeBoolean();
            else if (field !== "input") expect(value).toBeString();
          }
        }
      }),
      { numRuns: 3000 },
    );
  });
});
