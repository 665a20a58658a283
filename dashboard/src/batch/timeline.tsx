/**
 * The timeline of a batch: plain elements positioned by time, so that they can be focused, read and tested. Grows
 * every second while a task is live.
 */
import { useMemo, useState } from "react";
import type { TaskGroup } from "../../../src/protocol/statistics.ts";
import { useIsNarrow } from "../browser/media.ts";
import { useNow } from "../live/clock.ts";
import { useSpans } from "../server/queries.ts";
import { SpanLegend } from "../timeline/span-legend.tsx";
import { durationText } from "../wording/durations.ts";
import { axisTicks, type Tick } from "./axis-ticks.ts";
import { RunTooltip, type ShownRun } from "./run-tooltip.tsx";
import { type Segment, timeScale } from "./time-scale.ts";
import { TimelineRowView } from "./timeline-row.tsx";
import { timelineRows } from "./timeline-rows.ts";

/** Labels, track, duration; on narrow screens the label is above its track. */
export const TIMELINE_COLUMNS = "grid grid-cols-1 gap-x-4 md:grid-cols-[minmax(0,17rem)_minmax(0,1fr)_4.5rem]";

export function Timeline({ group }: { group: TaskGroup }) {
  const { data: recorded } = useSpans({ group: group.id });
  const rows = useMemo(() => timelineRows(group, recorded), [group, recorded]);
  const kinds = useMemo(
    () => new Set(rows.flatMap(({ bars }) => bars.flatMap(({ spans }) => spans?.map(({ kind }) => kind) ?? []))),
    [rows],
  );
  const isMoving = rows.some(({ bars }) => bars.some(({ to }) => to === null));
  const now = useNow({ moves: isMoving });
  const isNarrow = useIsNarrow();
  const [shown, setShown] = useState<ShownRun | null>(null);
  const scale = useMemo(() => {
    const spans = rows.flatMap(({ bars }) => bars.map(({ from, to }) => ({ from, to: Math.max(from, to ?? now) })));
    return timeScale(spans);
  }, [rows, now]);
  const ticks = axisTicks(scale, isNarrow ? 4 : 9);
  return (
    <section aria-label="Timeline" className="live-data rounded-xl border border-line bg-surface">
      <div className="relative px-3 sm:px-5">
        <Axis ticks={ticks} segments={scale.segments} />
        <ol className="relative flex flex-col pb-3">
          <GridLines ticks={ticks} segments={scale.segments} />
          {rows.map((row) => (
            <TimelineRowView key={row.task.id} row={row} scale={scale} now={now} onShow={setShown} />
          ))}
        </ol>
        {kinds.size > 0 && (
          <div className="border-t border-line py-2.5">
            <SpanLegend kinds={kinds} />
          </div>
        )}
      </div>
      {shown && <RunTooltip shown={shown} />}
    </section>
  );
}

function Axis({ ticks, segments }: { ticks: readonly Tick[]; segments: readonly Segment[] }) {
  return (
    <div
      className={`${TIMELINE_COLUMNS} sticky top-0 z-20 -mx-3 border-b border-line rounded-t-xl bg-surface px-3 sm:-mx-5 sm:px-5`}
    >
      <span className="hidden self-center text-xs text-faint md:block">Task</span>
      <div aria-hidden="true" className="relative h-9 text-[11px] text-faint">
        {ticks.map(({ place, label }) => (
          <span
            key={place}
            className={`absolute bottom-2 whitespace-nowrap ${place > 0.95 ? "-translate-x-full" : place < 0.02 ? "" : "-translate-x-1/2"}`}
            style={{ left: `${place * 100}%` }}
          >
            {label}
          </span>
        ))}
        {segments
          .filter(({ isIdle }) => isIdle)
          .map(({ from, to, start, width }) => (
            <span
              key={from}
              title={`nothing ran for ${durationText(to - from)}`}
              className="absolute bottom-2 -translate-x-1/2"
              style={{ left: `${(start + width / 2) * 100}%` }}
            >
              ⋯
            </span>
          ))}
      </div>
      <span className="hidden self-center text-right text-xs text-faint md:block">Duration</span>
    </div>
  );
}

function GridLines({ ticks, segments }: { ticks: readonly Tick[]; segments: readonly Segment[] }) {
  return (
    <li aria-hidden="true" className={`${TIMELINE_COLUMNS} pointer-events-none absolute inset-0`}>
      <span className="hidden md:block" />
      <span className="relative">
        {ticks.map(({ place }) => (
          <span key={place} className="absolute inset-y-0 w-px bg-line/70" style={{ left: `${place * 100}%` }} />
        ))}
        {segments
          .filter(({ isIdle }) => isIdle)
          .map(({ from, start, width }) => (
            <span
              key={from}
              className="absolute inset-y-0 bg-raised"
              style={{ left: `${start * 100}%`, width: `${width * 100}%` }}
            />
          ))}
      </span>
    </li>
  );
}
