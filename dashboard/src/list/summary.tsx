/**
 * The counts of all tasks, regardless of the filters.
 */
import type { Stats } from "../../../src/protocol/statistics.ts";
import { useStats } from "../server/queries.ts";
import { countText } from "../wording/amounts.ts";

const COUNTS: { label: string; colour: string; count: (stats: Stats) => number }[] = [
  { label: "Active", colour: "text-[var(--running)]", count: (stats) => stats.activeTasks },
  { label: "Completed", colour: "text-[var(--completed)]", count: (stats) => stats.byStatus.completed ?? 0 },
  { label: "Failed", colour: "text-[var(--error)]", count: (stats) => stats.byStatus.error ?? 0 },
  { label: "Cancelled", colour: "text-[var(--cancelled)]", count: (stats) => stats.byStatus.cancelled ?? 0 },
  { label: "Total", colour: "text-ink", count: (stats) => stats.totalTasks },
];

export function Summary() {
  const { data: stats } = useStats();
  return (
    <dl
      aria-label="Summary"
      className="live-data grid grid-cols-5 gap-x-2 px-3 pt-3 pb-2 sm:flex sm:gap-x-10 sm:px-5 sm:pt-5 sm:pb-3"
    >
      {COUNTS.map(({ label, colour, count }) => (
        <div key={label} className="flex min-w-0 flex-col-reverse">
          <dt className="truncate text-[11px] text-faint sm:text-xs">{label}</dt>
          <dd
            className={`text-[15px] leading-tight font-semibold tracking-tight sm:text-2xl ${stats && count(stats) > 0 ? colour : "text-faint"}`}
          >
            {stats ? countText(count(stats)) : "–"}
          </dd>
        </div>
      ))}
    </dl>
  );
}
