/**
 * The details of the run under the pointer or the focus, beside its bar and always within the window.
 */
import type { TimelineSpan } from "../../../src/protocol/spans.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { TaskDuration } from "../parts/times.tsx";
import { totalsOf } from "../timeline/run-shapes.ts";
import { costText, counted } from "../wording/amounts.ts";
import { clockText, durationText, fineDurationText } from "../wording/durations.ts";
import { SPAN_WORDS } from "../wording/spans.ts";
import type { RunBar } from "./timeline-rows.ts";

const WIDTH = 280;
const ROOM_BELOW = 190;

export interface ShownRun {
  task: BackgroundTask;
  bar: RunBar;
  box: DOMRect;
}

export function RunTooltip({ shown }: { shown: ShownRun }) {
  const { task, bar, box } = shown;
  const left = Math.max(8, Math.min(box.left, window.innerWidth - WIDTH - 8));
  const isBelow = box.bottom + ROOM_BELOW < window.innerHeight;
  const place = isBelow ? { top: box.bottom + 6 } : { bottom: window.innerHeight - box.top + 6 };
  const clock = (moment: number) => clockText(new Date(moment).toISOString());
  return (
    <div
      role="tooltip"
      className="pointer-events-none fixed z-40 flex flex-col gap-1.5 rounded-lg border border-strong-line bg-surface p-3 text-xs shadow-xl"
      style={{ left, width: Math.min(WIDTH, window.innerWidth - 16), ...place }}
    >
      <p className="foreign line-clamp-2 text-[13px] font-semibold">
        <ForeignText text={task.description} />
      </p>
      <p className="flex items-center gap-3">
        <StatusMark status={bar.status} />
        <span className="text-muted">{bar.number === 0 ? "launch" : `resume ${bar.number}`}</span>
        <span className="ml-auto">
          {bar.to === null ? <TaskDuration task={task} /> : durationText(bar.to - bar.from)}
        </span>
      </p>
      <p className="text-muted">
        {clock(bar.from)} – {bar.to === null ? "now" : clock(bar.to)}
      </p>
      <p className="foreign text-muted">
        <ForeignText text={task.agent} /> · {counted(task.progress.toolCalls, "tool call")} ·{" "}
        {costText(task.progress.cost)}
      </p>
      {bar.spans !== null && <SpentTime spans={bar.spans} runMs={(bar.to ?? Date.now()) - bar.from} />}
      {bar.error !== null && (
        <p className="foreign line-clamp-3 text-error">
          <ForeignText text={bar.error} />
        </p>
      )}
    </div>
  );
}

function SpentTime({ spans, runMs }: { spans: readonly TimelineSpan[]; runMs: number }) {
  const totals = [...totalsOf(spans, runMs)].map(([kind, { ms }]) => `${SPAN_WORDS[kind]} ${fineDurationText(ms)}`);
  return totals.length === 0 ? null : <p className="text-muted">{totals.join(" · ")}</p>;
}
