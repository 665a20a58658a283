/**
 * One task on the timeline: its name, a bar for each run, and the duration of the newest. Each bar links to the task.
 */
import type { FocusEvent, PointerEvent } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { Link } from "../routing/link.tsx";
import { taskPath } from "../routing/route.ts";
import { RunSpans } from "../timeline/run-spans.tsx";
import { durationText } from "../wording/durations.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { hasNotStarted, phaseText } from "../wording/phase.ts";
import type { ShownRun } from "./run-tooltip.tsx";
import type { TimeScale } from "./time-scale.ts";
import { TIMELINE_COLUMNS } from "./timeline.tsx";
import type { RunBar, TimelineRow } from "./timeline-rows.ts";

interface TimelineRowProps {
  row: TimelineRow;
  scale: TimeScale;
  now: number;
  onShow: (shown: ShownRun | null) => void;
}

export function TimelineRowView({ row, scale, now, onShow }: TimelineRowProps) {
  const { task, bars } = row;
  const newest = bars.at(-1);
  const { needsAttention, text, kind } = phaseText(task);
  return (
    <li
      data-task-id={task.id}
      data-status={task.status}
      className={`${TIMELINE_COLUMNS} relative items-center rounded-md py-1 hover:bg-raised/60 md:h-9 md:py-0`}
    >
      <div className="flex min-w-0 items-center gap-2">
        <StatusIcon status={task.status} isWaiting={hasNotStarted(task)} />
        <span className="sr-only">{hasNotStarted(task) ? "waiting" : task.status}</span>
        <Link
          href={taskPath(task.id)}
          title={visibleText(task.description)}
          className="foreign min-w-0 truncate font-medium hover:underline"
        >
          <ForeignText text={task.description || task.id} />
        </Link>
        {needsAttention && kind !== "plain" && (
          <span title={visibleText(text)} className="text-attention">
            <Icon name={kind} className="size-3.5" />
            <span className="sr-only">
              <ForeignText text={text} />
            </span>
          </span>
        )}
        <span className="ml-auto shrink-0 text-xs text-muted md:hidden">{newest && lengthText(newest, now)}</span>
      </div>
      <div className="relative h-6">
        {bars.map((bar) => (
          <Bar key={bar.number} row={row} bar={bar} scale={scale} now={now} onShow={onShow} />
        ))}
      </div>
      <span className="hidden text-right text-muted md:block">{newest && lengthText(newest, now)}</span>
    </li>
  );
}

function Bar({ row, bar, scale, now, onShow }: TimelineRowProps & { bar: RunBar }) {
  const left = scale.place(bar.from);
  const width = Math.max(0, scale.place(Math.max(bar.from, bar.to ?? now)) - left);
  const show = (event: PointerEvent<HTMLElement> | FocusEvent<HTMLElement>) => {
    onShow({ task: row.task, bar, box: event.currentTarget.getBoundingClientRect() });
  };
  const hide = () => onShow(null);
  const which = bar.number === 0 ? "launch" : `resume ${bar.number}`;
  return (
    <Link
      href={taskPath(row.task.id)}
      data-status={bar.status}
      data-run={bar.number}
      data-spans={bar.spans?.length}
      aria-label={`${visibleText(row.task.description)}, ${which}: ${bar.status}, ${lengthText(bar, now)}`}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      className="bar absolute inset-y-1 flex min-w-1.5 items-center overflow-hidden rounded-[5px] hover:brightness-110"
      // A bar at the very end keeps its minimum width inside the track.
      style={{ left: `min(${left * 100}%, calc(100% - 6px))`, width: `${width * 100}%` }}
    >
      {bar.spans !== null && <RunSpans spans={bar.spans} runMs={(bar.to ?? now) - bar.from} mostLanes={1} />}
      {bar.spans === null && width > 0.08 && <Icon name={bar.status} className="ml-1 size-3" />}
    </Link>
  );
}

function lengthText(bar: RunBar, now: number): string {
  return durationText((bar.to ?? now) - bar.from);
}
