import { expect, test } from "bun:test";
import { neighbourOf, nextFailure } from "../../../dashboard/src/family/neighbours.ts";
import { matching } from "../../../dashboard/src/palette/matching.ts";
import { roundAbove } from "../../../dashboard/src/stats/round-above.ts";
import { dailyUsage, OTHER_MODELS, UNNAMED_MODEL } from "../../../dashboard/src/stats/usage-days.ts";
import { shapesOf, spanAt, totalsOf } from "../../../dashboard/src/timeline/run-shapes.ts";
import type { TimelineSpan } from "../../../src/protocol/spans.ts";

const call = (at: number, ms: number | null, fields: Partial<TimelineSpan> = {}): TimelineSpan => {
  return { kind: "call", name: "bash", at, ms, count: 1, failed: 0, busyMs: ms ?? 0, ...fields };
};

test("calls at the same time get lanes, up to a number; what has not ended lasts as long as the run", () => {
  const spans = [call(0, 50), call(10, null), call(20, 10), call(60, 10)];
  const { lanes, paths } = shapesOf(spans, 100, 2);
  expect(lanes).toBe(2);
  expect(paths).toEqual([{ look: "whole", path: "M0 0H0.5v1H0zM0.1 1H1v1H0.1zM0.2 1H0.3v1H0.2zM0.6 0H0.7v1H0.6z" }]);
});

test("merged calls with gaps and failed ones look different; bands are no calls", () => {
  const spans = [
    call(0, 40, { count: 9, busyMs: 8 }),
    ...[0, 1, 2, 3].map((index) => call(40 + index * 0.05, 0.001)),
    call(50, 10, { failed: 1 }),
    call(60, 20, { kind: "waiting", name: null }),
  ];
  const { paths, bands } = shapesOf(spans, 100, 1);
  expect(paths.map(({ look }) => look)).toEqual(["rare", "sparse", "failed"]);
  expect(bands).toEqual([{ kind: "waiting", start: 0.6, width: expect.closeTo(0.2) }]);
  expect(totalsOf(spans, 100).get("call")).toMatchObject({ count: 14, failed: 1 });
});

test("the pointer finds the shortest span, also one that is narrower than a pixel", () => {
  const spans = [call(0, 100), call(50, 1, { name: "read" })];
  expect(spanAt(spans, 100, { ms: 52, reachMs: 2 })?.name).toBe("read");
  expect(spanAt(spans, 100, { ms: 60, reachMs: 2 })?.name).toBe("bash");
  expect(spanAt([], 100, { ms: 60, reachMs: 2 })).toBeNull();
});

test("neighbours go round a batch in the order of their start", () => {
  const tasks = ["c", "a", "b"].map((id) => ({ id, startedAt: id, status: id === "b" ? "error" : "running" }) as const);
  expect([neighbourOf(tasks, "a", 1), neighbourOf(tasks, "c", 1), neighbourOf(tasks, "a", -1)]).toEqual([
    "b",
    "a",
    "c",
  ]);
  expect([neighbourOf(tasks, null, 1), neighbourOf(tasks, null, -1)]).toEqual(["a", "c"]);
  expect(neighbourOf(tasks.slice(0, 1), "c", 1)).toBeNull();
  expect([nextFailure(tasks, "c"), nextFailure(tasks, "b")]).toEqual(["b", null]);
});

test("all words must match, and labels that begin with the text come first", () => {
  const entries = ["Go to the parent", "Parent of it", "Stats"].map((label) => ({ label }));
  expect(matching(entries, "PARENT").map(({ label }) => label)).toEqual(["Parent of it", "Go to the parent"]);
  expect(matching(entries, "to parent").map(({ label }) => label)).toEqual(["Go to the parent"]);
  expect(matching(entries, " ").length).toBe(3);
});

test("usage adds up by day and model; models beyond six are one", () => {
  const tokens = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
  const row = (day: number, model: string | null, cost: number) => {
    return { at: new Date(day).toISOString(), model, tasks: 1, tokens, cost, unpriced: cost === 0 ? 1 : 0 };
  };
  const usage = [row(0, null, 0), ...Array.from({ length: 8 }, (_, index) => row(10, `m${index}`, index + 1))];
  const daily = dailyUsage({ from: new Date(0).toISOString(), to: new Date(20).toISOString(), bucketMs: 10, usage });
  expect(daily.models.map(({ model }) => model)).toEqual(["m7", "m6", "m5", "m4", "m3", OTHER_MODELS]);
  expect(daily.models.at(-1)).toMatchObject({ tasks: 4, cost: 6, unpriced: 1 });
  expect(daily.total).toMatchObject({ tasks: 9, cost: 36 });
  expect(daily.days.map(({ total }) => total.cost)).toEqual([0, 36]);
  expect(
    dailyUsage({
      from: new Date(0).toISOString(),
      to: new Date(10).toISOString(),
      bucketMs: 10,
      usage: usage.slice(0, 1),
    }).models[0]?.model,
  ).toBe(UNNAMED_MODEL);
});

test("an axis ends at a round amount", () => {
  expect([0, 0.013, 1, 3.1, 9.9, 41].map(roundAbove)).toEqual([1, 0.02, 1, 4, 10, 50]);
});
