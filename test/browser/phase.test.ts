import { expect, test } from "bun:test";
import { type Phased, phaseText } from "../../dashboard/src/wording/phase.ts";

test("a phase that a newer process wrote is shown by its name", () => {
  const progress = { toolCalls: 0, lastTools: [] };
  const task = { status: "running", phase: "newer", phaseDetail: null, progress, error: null, cancelRequestedAt: null };
  expect(phaseText(task as unknown as Phased)).toEqual({ kind: "plain", text: "newer", needsAttention: false });
});

test.each([
  ["question", "question", "waiting for an answer: Which one?"],
  ["permission", "waiting", "waiting for permission: Which one?"],
])("a %s is shown as one", (asks, kind, text) => {
  const phaseDetail = { kind: "waiting", requestId: "r", asks, text: "Which one?" };
  const task = { status: "running", phase: "waiting", phaseDetail, cancelRequestedAt: null };
  expect(phaseText(task as unknown as Phased)).toEqual({ kind: kind as "question", text, needsAttention: true });
});
