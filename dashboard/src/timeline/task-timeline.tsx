/**
 * The timeline of a task: a track for each of its newest runs, with tool calls, waiting and retrying apart, what the
 * newest run spent its time on, and the same as a table for people who cannot see it.
 */
import { useMemo, useState } from "react";
import type { TimelineRun } from "../../../src/protocol/spans.ts";
import type { BackgroundTask, BackgroundTaskRun } from "../../../src/protocol/tasks.ts";
import { axisTicks, type Tick } from "../batch/axis-ticks.ts";
import { timeScale } from "../batch/time-scale.ts";
import { useIsNarrow } from "../browser/media.ts";
import { useNow } from "../live/clock.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useRuns, useSpans } from "../server/queries.ts";
import { counted } from "../wording/amounts.ts";
import { durationText, fineDurationText } from "../wording/durations.ts";
import { spanTitle } from "../wording/spans.ts";
import { endOf, totalsOf } from "./run-shapes.ts";
import { RunTrack } from "./run-track.tsx";
import { SpanTotals } from "./span-legend.tsx";
import { type ShownSpan, SpanNote } from "./span-note.tsx";

const SHOWN_RUNS = 5;
const COLUMNS =
  "grid grid-cols-[3.4rem_minmax(0,1fr)_3.4rem] gap-x-2 sm:grid-cols-[4.5rem_minmax(0,1fr)_4rem] sm:gap-x-3";

export interface TrackedRun {
  run: BackgroundTaskRun;
  spans: TimelineRun["spans"];
  ms: number;
}

/** Nothing is shown until there is something to show: old tasks have no record of their calls. */
export function TaskTimeline({ task }: { task: BackgroundTask }) {
  const { data: recorded } = useSpans({ task: task.id });
  const { data: runs } = useRuns(task);
  const now = useNow({ moves: task.run.endedAt === null });
  const isNarrow = useIsNarrow();
  const [shown, setShown] = useState<ShownSpan | null>(null);
  const tracked = trackedRuns(recorded ?? [], runs ?? [], task, now);
  const newest = tracked[0];
  const longest = Math.max(1, ...tracked.map(({ ms }) => ms));
  const ticks = useMemo(() => axisTicks(timeScale([{ from: 0, to: longest }]), isNarrow ? 3 : 9), [longest, isNarrow]);
  if (newest === undefined) return null;
  const more = (runs?.length ?? 0) - tracked.length;
  return (
    <section aria-label="Timeline" className="live-data mt-5 rounded-xl border border-line bg-surface px-4 pt-3 pb-3.5">
      <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1.5">
        <h2 className="font-semibold">Timeline</h2>
        <NewestTotals {...newest} status={task.status} />
      </div>
      <ol className="relative flex flex-col gap-1.5">
        <Ticks ticks={ticks} />
        {tracked.map((each) => (
          <li key={each.run.number} className={`${COLUMNS} items-center`}>
            <span className="text-xs text-muted">{each.run.number === 0 ? "launch" : `resume ${each.run.number}`}</span>
            <RunTrack
              tracked={each}
              share={each.ms / longest}
              status={each.run.outcome ?? task.status}
              onShow={setShown}
            />
            <span className="text-right text-xs text-muted">{durationText(each.ms)}</span>
          </li>
        ))}
      </ol>
      {more > 0 && <p className="mt-1.5 text-xs text-muted">and {counted(more, "earlier run")}</p>}
      <SpanTable {...newest} />
      {shown && <SpanNote shown={shown} />}
    </section>
  );
}

function trackedRuns(
  recorded: readonly TimelineRun[],
  runs: readonly BackgroundTaskRun[],
  task: BackgroundTask,
  now: number,
): TrackedRun[] {
  const spansOf = new Map(recorded.map(({ run, spans }) => [run, spans]));
  return runs
    .filter(({ number }) => spansOf.has(number))
    .slice(0, SHOWN_RUNS)
    .map((run) => {
      const ended = run.endedAt ?? (run.number === task.run.number ? task.run.endedAt : null);
      const ms = Math.max(0, (ended === null ? now : Date.parse(ended)) - Date.parse(run.startedAt));
      return { run, ms, spans: spansOf.get(run.number) ?? [] };
    });
}

function NewestTotals({ spans, ms, status }: TrackedRun & { status: BackgroundTask["status"] }) {
  const totals = totalsOf(spans, ms);
  return (
    <div data-status={status}>
      <SpanTotals totals={totals} restMs={restOf(spans, ms)} />
    </div>
  );
}

/** The time that no span covers. */
function restOf(spans: TrackedRun["spans"], ms: number): number {
  let covered = 0;
  let until = 0;
  for (const span of spans.toSorted((one, other) => one.at - other.at)) {
    const end = Math.min(ms, endOf(span, ms));
    const share = span.kind === "call" && span.ms ? Math.min(1, span.busyMs / span.ms) : 1;
    covered += Math.max(0, end - Math.max(until, span.at)) * share;
    until = Math.max(until, end);
  }
  return Math.max(0, ms - covered);
}

function Ticks({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <li aria-hidden="true" className={`${COLUMNS} h-5 text-[11px] text-faint`}>
      <span />
      <span className="relative">
        {ticks.map(({ place, label }) => (
          <span
            key={place}
            className={`absolute bottom-0.5 whitespace-nowrap ${place > 0.95 ? "-translate-x-full" : place < 0.02 ? "" : "-translate-x-1/2"}`}
            style={{ left: `${place * 100}%` }}
          >
            {label}
          </span>
        ))}
      </span>
    </li>
  );
}

function SpanTable({ spans, ms }: TrackedRun) {
  return (
    <table className="sr-only">
      <caption>What the newest run spent its time on</caption>
      <thead>
        <tr>
          <th>What</th>
          <th>After</th>
          <th>Took</th>
        </tr>
      </thead>
      <tbody>
        {spans.map((span) => (
          <tr key={`${span.kind} ${span.at} ${span.name}`}>
            <td>
              <ForeignText text={spanTitle(span)} />
            </td>
            <td>{fineDurationText(span.at)}</td>
            <td>{fineDurationText(endOf(span, ms) - span.at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
