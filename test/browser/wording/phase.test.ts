import { expect, test } from "bun:test";
import { momentText } from "../../../dashboard/src/wording/durations.ts";
import { hasNotStarted, type Phased, phaseText } from "../../../dashboard/src/wording/phase.ts";

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

test("what waits for its provider shows until when, or when it tries again", () => {
  const shown = (phaseDetail: object) =>
    phaseText({ status: "running", phase: "paused", phaseDetail, cancelRequestedAt: null } as unknown as Phased);
  const noon = new Date();
  noon.setHours(12, 10, 0, 0);
  const clock = momentText(noon.toISOString(), noon);
  const paused = { kind: "paused", cause: "quota", until: noon.toISOString(), reason: "used up", count: 1 };
  expect(shown(paused)).toEqual({
    kind: "stalled",
    text: `waiting until ${clock} (quota): used up`,
    needsAttention: true,
  });
  expect(shown({ ...paused, cause: "stall", reason: "no sign of life" }).text).toBe("restarting (1): no sign of life");
  const retrying = { kind: "retrying", reason: "down", count: 3, next: noon.toISOString() };
  expect(shown(retrying).text).toBe(`retrying (3, next at ${clock}): down`);
  expect(momentText(noon.toISOString(), new Date(0))).not.toBe(clock);
});

test("what has not started is told from what runs, with what it waits for", () => {
  const live = { status: "running", cancelRequestedAt: null, phaseDetail: null } as const;
  const shown = (fields: object) => {
    const task = { ...live, ...fields } as unknown as Phased;
    return [hasNotStarted(task), phaseText(task).text];
  };
  expect(shown({ phase: "queued" })).toEqual([true, "waits for a free slot"]);
  expect(shown({ phase: "queued", queue: { waitsFor: "no runner" } })).toEqual([true, "waits for a runner: no runner"]);
  expect(shown({ phase: "queued", phaseDetail: { kind: "after" } })).toEqual([true, "starts after other tasks"]);
  const blocked = { kind: "blocked", by: "a", text: "a failed", at: "" };
  expect(shown({ phase: "waiting", phaseDetail: blocked })).toEqual([true, "cannot start: a failed"]);
  expect(shown({ phase: "starting" })).toEqual([false, "starting"]);
  expect(hasNotStarted({ status: "cancelled", phase: null, phaseDetail: null })).toBe(false);
});
