/**
 * What a run spent its time on, as a bounded list: its tool calls, and the times in which it did not work. Pure. Past
 * the limit, neighbours of one kind become one span that says how many it stands for and how long they took, so the
 * list covers the whole run, however long. For display only: nothing is decided by it.
 */
import type { Phase } from "../task.ts";

export const SPAN_KINDS = ["call", "queued", "waiting", "retrying", "paused", "stalled"] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

export interface WorkSpan {
  kind: SpanKind;
  /** The tool; null if there is none, or the calls were of several. */
  name: string | null;
  /** In ms since the epoch. */
  from: number;
  /** Null until it has ended. */
  to: number | null;
  /** How many calls, or times, it stands for. */
  count: number;
  failed: number;
  /** How long these took together, in ms: less than the span where there were gaps, more where calls overlapped. */
  busyMs: number;
}

/** The spans of a live run by their start. `open`: the span of each call that goes on. */
export interface WorkSpans {
  readonly list: readonly WorkSpan[];
  readonly open: ReadonlyMap<string, WorkSpan>;
}

export const MOST_WORK_SPANS = 200;
const NAME_CHARACTERS = 80;

/** The phases in which an agent does not work, and what they are called here. `working` has no span of its own. */
const KIND_OF_PHASE: Record<Phase, SpanKind | null> = {
  queued: "queued",
  starting: "queued",
  working: null,
  retrying: "retrying",
  waiting: "waiting",
  stalled: "stalled",
  paused: "paused",
};

export function noSpans(): WorkSpans {
  return { list: [], open: new Map() };
}

/** Those of another process. Nobody saw how its calls ended: they are not followed any further. */
export function takenOver(stored: readonly WorkSpan[], at: number): WorkSpans {
  const list = stored.map((span) => (span.kind === "call" && span.to === null ? closed(span, at) : span));
  return { list, open: new Map() };
}

export function callBegan({ list, open }: WorkSpans, callId: string, name: string, at: number): WorkSpans {
  if (open.has(callId)) return { list, open };
  const span = newSpan("call", name.slice(0, NAME_CHARACTERS), at);
  const next = bounded([...list, span]);
  // What had to be merged in its place is not open any more.
  return { list: next, open: stillIn(next, new Map(open).set(callId, span)) };
}

export function callEnded({ list, open }: WorkSpans, callId: string, isFailed: boolean, at: number): WorkSpans {
  const span = open.get(callId);
  if (span === undefined) return { list, open };
  const ended = { ...closed(span, at), failed: isFailed ? 1 : 0 };
  const rest = new Map(open);
  rest.delete(callId);
  return { list: list.map((each) => (each === span ? ended : each)), open: rest };
}

/** From now on the run is in that phase; null: it has ended, and so have its calls. */
export function phaseBegan(spans: WorkSpans, phase: Phase | null, at: number): WorkSpans {
  const kind = phase === null ? null : KIND_OF_PHASE[phase];
  const current = spans.list.findLast((span) => span.kind !== "call" && span.to === null);
  // No call outlives a pause, or the run.
  const isAtWork = phase !== null && phase !== "paused";
  if (isAtWork && (current?.kind ?? null) === kind) return spans;
  const isOver = (span: WorkSpan) => span === current || !isAtWork;
  const list = spans.list.map((span) => (span.to === null && isOver(span) ? closed(span, at) : span));
  const next = kind === null ? list : bounded([...list, newSpan(kind, null, at)]);
  return { list: next, open: stillIn(next, spans.open) };
}

/** At most that many, from the same beginning to the same end. */
export function coalesced(spans: readonly WorkSpan[], most: number): WorkSpan[] {
  let list = [...spans];
  while (list.length > most) {
    const merged = mergedOnce(list, list.length - most);
    if (merged.length === list.length) return list.slice(-most);
    list = merged;
  }
  return list;
}

/** To half of the limit, so that it is not done for each call. */
function bounded(spans: readonly WorkSpan[]): readonly WorkSpan[] {
  return spans.length <= MOST_WORK_SPANS ? spans : coalesced(spans, MOST_WORK_SPANS / 2);
}

/** Merges up to that many pairs of neighbours of one kind, those first that make the shortest spans. */
function mergedOnce(spans: readonly WorkSpan[], pairs: number): WorkSpan[] {
  const previous = new Map<SpanKind, WorkSpan>();
  const candidates: { first: WorkSpan; second: WorkSpan; length: number }[] = [];
  for (const second of spans) {
    const first = previous.get(second.kind);
    previous.set(second.kind, second);
    if (first === undefined || first.to === null || second.to === null) continue;
    candidates.push({ first, second, length: Math.max(first.to, second.to) - first.from });
  }
  const taken = new Map<WorkSpan, WorkSpan | null>();
  let left = pairs;
  for (const { first, second } of candidates.toSorted((one, other) => one.length - other.length)) {
    if (left === 0) break;
    if (taken.has(first) || taken.has(second)) continue;
    taken.set(first, joined(first, second)).set(second, null);
    left--;
  }
  return spans.flatMap((span) => {
    const instead = taken.get(span);
    return instead === undefined ? [span] : instead === null ? [] : [instead];
  });
}

function joined(first: WorkSpan, second: WorkSpan): WorkSpan {
  return {
    kind: first.kind,
    name: first.name === second.name ? first.name : null,
    from: first.from,
    to: Math.max(first.to ?? first.from, second.to ?? second.from),
    count: first.count + second.count,
    failed: first.failed + second.failed,
    busyMs: first.busyMs + second.busyMs,
  };
}

function newSpan(kind: SpanKind, name: string | null, from: number): WorkSpan {
  return { kind, name, from, to: null, count: 1, failed: 0, busyMs: 0 };
}

/** A wall clock may have been set back. */
function closed(span: WorkSpan, at: number): WorkSpan {
  const to = Math.max(span.from, at);
  return { ...span, to, busyMs: to - span.from };
}

function stillIn(list: readonly WorkSpan[], open: ReadonlyMap<string, WorkSpan>): Map<string, WorkSpan> {
  const there = new Set(list);
  return new Map([...open].filter(([, span]) => there.has(span)));
}
