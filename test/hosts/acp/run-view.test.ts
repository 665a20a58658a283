import { expect, test } from "bun:test";
import { STRICT } from "../../../src/hosts/acp/profiles/profile.ts";
import { RunView } from "../../../src/hosts/acp/run-view.ts";
import type { TranscriptLine } from "../../../src/hosts/acp/transcript-lines.ts";

const run = { messageId: "m", at: 1 };
const called = (sessionUpdate: string, status: string): TranscriptLine => ({
  type: "update",
  ...run,
  update: { sessionUpdate, toolCallId: "call-1", status, rawInput: {}, rawOutput: "a b", content: undefined },
});
const asked = (requestId: string): TranscriptLine => ({
  type: "asked",
  ...run,
  requestId,
  callId: "call-1",
  tool: "execute",
  text: "rm",
});
const answered = (requestId: string, reply: "rejected" | "allowed once", message: string | null): TranscriptLine => ({
  type: "answered",
  ...run,
  requestId,
  reply,
  message,
});

const after = (...lines: TranscriptLine[]) => {
  const view = new RunView({ ...run, text: "work" }, STRICT);
  for (const line of lines) view.read(line);
  return { part: view.calls.get("call-1"), stoppedAt: view.stoppedAt };
};

test("a call that a person rejected stays rejected, whatever the agent calls that", () => {
  const rejected = [called("tool_call", "pending"), asked("r1"), answered("r1", "rejected", null)];
  const { part, stoppedAt } = after(...rejected, called("tool_call_update", "completed"));
  expect([part?.state, stoppedAt?.message]).toEqual(["error", "rejected by a person"]);
});

test("after a person's words, its id may be that of another call, which ran", () => {
  const { part, stoppedAt } = after(
    called("tool_call", "pending"),
    asked("r1"),
    answered("r1", "rejected", "use ls"),
    { type: "told", ...run, text: "use ls" },
    called("tool_call", "pending"),
    asked("r2"),
    answered("r2", "allowed once", null),
    called("tool_call_update", "completed"),
  );
  expect([part?.state, part?.error, stoppedAt]).toEqual(["completed", null, null]);
});
