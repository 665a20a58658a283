/**
 * Maps a moment to its position on the timeline, from 0 to 1. Long spans without a running task are folded to a
 * sliver, so that a resume on the next day does not squeeze everything else to the edge. Pure.
 */

export interface Span {
  from: number;
  to: number;
}

export interface Segment extends Span {
  start: number;
  width: number;
  isIdle: boolean;
}

export interface TimeScale {
  begin: number;
  segments: Segment[];
  place(moment: number): number;
}

const IDLE_WIDTH = 0.045;
const IDLE_WIDTHS_AT_MOST = 0.25;
const IDLE_AT_LEAST_MS = 60_000;
const IDLE_SHARE = 0.3;

export function timeScale(spans: readonly Span[]): TimeScale {
  const busy = merged(spans);
  const begin = busy[0]?.from ?? 0;
  const segments = laidOut(unfoldedAndIdle(busy));
  const place = (moment: number) => {
    const segment = segments.findLast(({ from }) => moment >= from) ?? segments[0];
    if (!segment) return 0;
    const share = segment.to === segment.from ? 0 : (moment - segment.from) / (segment.to - segment.from);
    return segment.start + segment.width * Math.min(1, Math.max(0, share));
  };
  return { begin, segments, place };
}

function merged(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const newest = joined.at(-1);
    if (newest && from <= newest.to) newest.to = Math.max(newest.to, to);
    else joined.push({ from, to: Math.max(from, to) });
  }
  return joined;
}

/** Short gaps are not folded. */
function unfoldedAndIdle(busy: readonly Span[]): (Span & { isIdle: boolean })[] {
  const worked = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const longGap = Math.max(IDLE_AT_LEAST_MS, worked * IDLE_SHARE);
  const parts: (Span & { isIdle: boolean })[] = [];
  for (const { from, to } of busy) {
    const newest = parts.at(-1);
    if (newest && from - newest.to < longGap) {
      newest.to = to;
      continue;
    }
    if (newest) parts.push({ from: newest.to, to: from, isIdle: true });
    parts.push({ from, to, isIdle: false });
  }
  return parts;
}

function laidOut(parts: readonly (Span & { isIdle: boolean })[]): Segment[] {
  const idleCount = parts.filter(({ isIdle }) => isIdle).length;
  const idleWidth = idleCount === 0 ? 0 : Math.min(IDLE_WIDTH, IDLE_WIDTHS_AT_MOST / idleCount);
  const shown = parts.reduce((sum, { from, to, isIdle }) => sum + (isIdle ? 0 : to - from), 0);
  let start = 0;
  return parts.map((part) => {
    const width = part.isIdle
      ? idleWidth
      : (1 - idleCount * idleWidth) * (shown === 0 ? 1 : (part.to - part.from) / shown);
    const segment = { ...part, start, width };
    start += width;
    return segment;
  });
}
