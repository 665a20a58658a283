import { expect, test } from "bun:test";
import {
  callBegan,
  callEnded,
  coalesced,
  MOST_WORK_SPANS,
  noSpans,
  phaseBegan,
  takenOver,
  type WorkSpans,
} from "../../../src/model/live-run/work-spans.ts";

function calls(count: number, every: number, ms: number, before: WorkSpans = noSpans()): WorkSpans {
  let spans = before;
  for (let index = 0; index < count; index++) {
    const at = index * every;
    spans = callEnded(callBegan(spans, `c${index}`, "read", at), `c${index}`, index % 100 === 0, at + ms);
  }
  return spans;
}

test("calls and phases are apart, and a call ends once", () => {
  let spans = phaseBegan(noSpans(), "starting", 0);
  spans = phaseBegan(spans, "working", 10);
  spans = callBegan(spans, "a", "bash", 20);
  spans = callBegan(spans, "a", "bash", 25);
  spans = phaseBegan(spans, "waiting", 30);
  spans = phaseBegan(spans, "waiting", 35);
  spans = phaseBegan(spans, "working", 50);
  spans = callEnded(spans, "a", true, 60);
  spans = callEnded(spans, "a", false, 99);
  spans = callEnded(spans, "unknown", false, 99);
  expect(spans.list.map(({ kind, name, from, to, failed }) => [kind, name, from, to, failed])).toEqual([
    ["queued", null, 0, 10, 0],
    ["call", "bash", 20, 60, 1],
    ["waiting", null, 30, 50, 0],
  ]);
});

test("nothing outlives a pause or the run", () => {
  const open = callBegan(phaseBegan(noSpans(), "retrying", 0), "a", "bash", 5);
  const kinds = ({ list }: WorkSpans) => list.map(({ kind, to }) => [kind, to]);
  expect(kinds(phaseBegan(open, "paused", 10))).toEqual([
    ["retrying", 10],
    ["call", 10],
    ["paused", null],
  ]);
  expect(kinds(phaseBegan(open, null, 10))).toEqual([
    ["retrying", 10],
    ["call", 10],
  ]);
  // The wall clock was set back.
  expect(kinds(phaseBegan(open, null, -100))).toEqual([
    ["retrying", 0],
    ["call", 5],
  ]);
});

test("a run of three hours with calls of 50 ms keeps its whole length, its calls and their time in a bounded list", () => {
  const { list } = calls(10_800, 1_000, 50);
  expect(list.length).toBeLessThanOrEqual(MOST_WORK_SPANS);
  expect(list[0]?.from).toBe(0);
  expect(list.at(-1)?.to).toBe(10_799_000 + 50);
  expect(list.reduce((sum, { count }) => sum + count, 0)).toBe(10_800);
  expect(list.reduce((sum, { failed }) => sum + failed, 0)).toBe(108);
  expect(list.reduce((sum, { busyMs }) => sum + busyMs, 0)).toBe(10_800 * 50);
});

test("kinds are never merged with each other, and waiting between calls survives", () => {
  let spans = noSpans();
  for (let index = 0; index < 500; index++) {
    spans = callEnded(
      callBegan(spans, `c${index}`, index % 2 ? "read" : "bash", index * 10),
      `c${index}`,
      false,
      index * 10 + 2,
    );
    if (index % 50 === 0) spans = phaseBegan(phaseBegan(spans, "waiting", index * 10 + 3), "working", index * 10 + 9);
  }
  expect(spans.list.length).toBeLessThanOrEqual(MOST_WORK_SPANS);
  const waited = spans.list.filter(({ kind }) => kind === "waiting");
  expect(waited.reduce((sum, { busyMs }) => sum + busyMs, 0)).toBe(10 * 6);
  expect(coalesced(spans.list, 10).length).toBeLessThanOrEqual(10);
});

test("calls that never end do not make the list grow without a bound", () => {
  let spans = noSpans();
  for (let index = 0; index < 1_000; index++) spans = callBegan(spans, `c${index}`, "x".repeat(1_000), index);
  expect(spans.list.length).toBeLessThanOrEqual(MOST_WORK_SPANS);
  expect(spans.open.size).toBeLessThanOrEqual(MOST_WORK_SPANS);
  expect(spans.list[0]?.name?.length).toBe(80);
});

test("a run that is taken over keeps what is stored; its calls are not followed, its phase is", () => {
  const stored = callBegan(phaseBegan(noSpans(), "waiting", 5), "a", "bash", 10).list;
  const spans = phaseBegan(takenOver(stored, 100), "waiting", 100);
  expect(spans.list.map(({ kind, to }) => [kind, to])).toEqual([
    ["waiting", null],
    ["call", 100],
  ]);
});
