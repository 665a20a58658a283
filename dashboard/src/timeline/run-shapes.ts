/**
 * What a run spent its time on, as shapes between 0 and 1 of its length, and as sums. Calls that overlap get lanes.
 * Pure.
 */
import type { TimelineSpan } from "../../../src/protocol/spans.ts";

export type BandKind = Exclude<TimelineSpan["kind"], "call">;

/** A time in which nothing worked. */
export interface Band {
  kind: BandKind;
  start: number;
  width: number;
}

export type CallLook = "whole" | "sparse" | "rare" | "failed";

export interface RunShapes {
  bands: Band[];
  /** The outlines of all calls of a look, for a box of 1 by `lanes`. */
  paths: { look: CallLook; path: string }[];
  lanes: number;
}

/** Where calls take less of a span than this, it is drawn paler, and below the second still paler. */
const DENSE = 0.5;
const RARE = 0.1;
/** Calls within this share of a run cannot be told apart on a screen. */
const FINEST = 1 / 400;
const LOOKS: readonly CallLook[] = ["rare", "sparse", "whole", "failed"];

/** When it ended; what nobody saw the end of lasts as long as its run. */
export function endOf({ at, ms }: TimelineSpan, runMs: number): number {
  return ms === null ? Math.max(at, runMs) : at + ms;
}

export function shapesOf(spans: readonly TimelineSpan[], runMs: number, mostLanes: number): RunShapes {
  const length = Math.max(1, runMs);
  const place = (ms: number) => Math.min(1, Math.max(0, ms / length));
  const calls = gathered(
    spans.filter(({ kind }) => kind === "call"),
    length * FINEST,
  );
  const laneOf = lanesOf(calls, runMs, mostLanes);
  const lanes = Math.max(1, ...calls.map((span) => (laneOf.get(span) ?? 0) + 1));
  const paths = LOOKS.flatMap((look) => {
    const own = calls.filter((span) => lookOf(span, runMs) === look);
    if (own.length === 0) return [];
    const boxes = own.map((span) => {
      const [from, to] = [place(span.at), place(endOf(span, runMs))];
      return `M${short(from)} ${laneOf.get(span) ?? 0}H${short(to)}v1H${short(from)}z`;
    });
    return [{ look, path: boxes.join("") }];
  });
  const bands = spans.flatMap((span): Band[] => {
    if (span.kind === "call") return [];
    const start = place(span.at);
    return [{ kind: span.kind, start, width: place(endOf(span, runMs)) - start }];
  });
  return { bands, paths, lanes };
}

function short(share: number): string {
  return share.toFixed(5).replace(/\.?0+$/, "");
}

function lookOf(span: TimelineSpan, runMs: number): CallLook {
  if (span.failed > 0 && span.failed * 2 >= span.count) return "failed";
  const share = span.busyMs / Math.max(1, endOf(span, runMs) - span.at);
  if (span.count === 1 || share >= DENSE) return "whole";
  return share >= RARE ? "sparse" : "rare";
}

/** As one where they are too near to each other: a line for each would look like work without a gap. */
function gathered(calls: readonly TimelineSpan[], nearMs: number): TimelineSpan[] {
  const list: TimelineSpan[] = [];
  for (const call of calls) {
    const last = list.at(-1);
    const end = last?.ms == null || call.ms === null ? null : Math.max(last.at + last.ms, call.at + call.ms);
    if (last === undefined || end === null || end - last.at > nearMs) {
      list.push(call);
      continue;
    }
    const { count, failed, busyMs } = call;
    const sums = { count: last.count + count, failed: last.failed + failed, busyMs: last.busyMs + busyMs };
    list[list.length - 1] = { ...last, ...sums, ms: end - last.at };
  }
  return list;
}

/** The first free lane, or the last one where there are too many at once. */
function lanesOf(calls: readonly TimelineSpan[], runMs: number, most: number): Map<TimelineSpan, number> {
  const ends: number[] = [];
  const lanes = new Map<TimelineSpan, number>();
  for (const call of calls) {
    const free = ends.findIndex((end) => end <= call.at);
    const lane = free >= 0 ? free : Math.min(ends.length, most - 1);
    ends[lane] = Math.max(ends[lane] ?? 0, endOf(call, runMs));
    lanes.set(call, lane);
  }
  return lanes;
}

export interface KindTotal {
  count: number;
  failed: number;
  ms: number;
}

/** How often, and how long together. */
export function totalsOf(spans: readonly TimelineSpan[], runMs: number): Map<TimelineSpan["kind"], KindTotal> {
  const totals = new Map<TimelineSpan["kind"], KindTotal>();
  for (const span of spans) {
    const { count, failed, ms } = totals.get(span.kind) ?? { count: 0, failed: 0, ms: 0 };
    const own = span.ms === null ? endOf(span, runMs) - span.at : span.busyMs;
    totals.set(span.kind, { count: count + span.count, failed: failed + span.failed, ms: ms + own });
  }
  return totals;
}

/** The span at a moment of the run, or near it: the shortest, since a call may wait for a person. */
export function spanAt(
  spans: readonly TimelineSpan[],
  runMs: number,
  { ms, reachMs }: { ms: number; reachMs: number },
): TimelineSpan | null {
  const near = spans.filter((span) => span.at - reachMs <= ms && ms <= endOf(span, runMs) + reachMs);
  const length = (span: TimelineSpan) => endOf(span, runMs) - span.at;
  return near.toSorted((one, other) => length(one) - length(other))[0] ?? null;
}
