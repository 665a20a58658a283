/**
 * What is under the pointer on a task's timeline: which call, how long, and when in the run.
 */
import type { TimelineSpan } from "../../../src/protocol/spans.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { clockText, fineDurationText } from "../wording/durations.ts";
import { spanTitle } from "../wording/spans.ts";
import { endOf } from "./run-shapes.ts";

const WIDTH = 240;

export interface ShownSpan {
  span: TimelineSpan;
  startedAt: string;
  runMs: number;
  /** Where the pointer is, and the edge of the track below it. */
  left: number;
  top: number;
}

export function SpanNote({ shown: { span, startedAt, runMs, left, top } }: { shown: ShownSpan }) {
  const from = new Date(Date.parse(startedAt) + span.at).toISOString();
  const length = endOf(span, runMs) - span.at;
  const busy = span.count > 1 && span.busyMs < length ? `${fineDurationText(span.busyMs)} within ` : "";
  return (
    <div
      role="tooltip"
      className="pointer-events-none fixed z-40 flex flex-col gap-0.5 rounded-lg border border-strong-line bg-surface px-3 py-2 text-xs shadow-xl"
      style={{ left: Math.max(8, Math.min(left - 16, window.innerWidth - WIDTH - 8)), top: top + 6, maxWidth: WIDTH }}
    >
      <p className="foreign line-clamp-2 font-semibold">
        <ForeignText text={spanTitle(span)} />
      </p>
      <p className="text-muted">
        {busy}
        {fineDurationText(length)}
        {span.ms === null && " so far"} · {clockText(from)}
      </p>
    </div>
  );
}
