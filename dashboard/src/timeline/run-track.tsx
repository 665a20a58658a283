/**
 * One run on a task's timeline, as long as its share of the longest one. The pointer finds what was going on.
 */
import type { PointerEvent } from "react";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { durationText } from "../wording/durations.ts";
import { spanAt } from "./run-shapes.ts";
import { RunSpans } from "./run-spans.tsx";
import type { ShownSpan } from "./span-note.tsx";
import type { TrackedRun } from "./task-timeline.tsx";

const MOST_LANES = 4;
/** How near the pointer has to be to a short call, in pixels. */
const REACH_PX = 4;

interface RunTrackProps {
  tracked: TrackedRun;
  share: number;
  status: BackgroundTaskStatus;
  onShow: (shown: ShownSpan | null) => void;
}

export function RunTrack({ tracked: { run, spans, ms }, share, status, onShow }: RunTrackProps) {
  const find = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const perPixel = ms / Math.max(1, box.width);
    const at = { ms: (event.clientX - box.left) * perPixel, reachMs: REACH_PX * perPixel };
    const span = spanAt(spans, ms, at);
    onShow(span && { span, startedAt: run.startedAt, runMs: ms, left: event.clientX, top: box.bottom });
  };
  return (
    <div className="relative h-8 rounded-md bg-well">
      <div
        role="img"
        aria-label={`${run.number === 0 ? "launch" : `resume ${run.number}`}: ${status}, ${durationText(ms)}`}
        data-status={status}
        data-run={run.number}
        data-spans={spans.length}
        onPointerMove={find}
        onPointerLeave={() => onShow(null)}
        className="bar relative h-full min-w-1.5 rounded-md"
        style={{ width: `${share * 100}%` }}
      >
        <RunSpans spans={spans} runMs={ms} mostLanes={MOST_LANES} />
      </div>
    </div>
  );
}
