/**
 * The totals of a batch: the number of tasks by status, and what they used together.
 */
import type { TaskGroup } from "../../../src/protocol/statistics.ts";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { useNow } from "../live/clock.ts";
import { Icon } from "../parts/icons.tsx";
import { compactText, costText, countText, tokensTitle, totalTokens } from "../wording/amounts.ts";
import { durationText } from "../wording/durations.ts";

export function BatchTotals({ group }: { group: TaskGroup }) {
  const now = useNow({ moves: group.endedAt === null });
  const duration = group.endedAt === null ? now - Date.parse(group.startedAt) : group.duration;
  const amounts = [
    { name: "Tasks", value: countText(group.total) },
    { name: "Duration", value: durationText(duration) },
    { name: "Tool calls", value: countText(group.totalToolCalls) },
    { name: "Tokens", value: compactText(totalTokens(group.tokens)), title: tokensTitle(group.tokens) },
    { name: "Cost", value: costText(group.cost) },
  ];
  return (
    <section
      aria-label="Totals"
      className="live-data flex flex-col gap-4 rounded-xl border border-line bg-surface p-4 sm:p-5"
    >
      <CompletionBar group={group} />
      <dl className="flex flex-wrap gap-x-10 gap-y-3">
        {amounts.map(({ name, value, title }) => (
          <div key={name} className="flex flex-col-reverse" title={title}>
            <dt className="text-xs text-faint">{name}</dt>
            <dd className="text-xl leading-tight font-semibold tracking-tight">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function CompletionBar({ group }: { group: TaskGroup }) {
  const shares: { status: BackgroundTaskStatus; label: string; count: number }[] = [
    { status: "completed", label: "completed", count: group.completed },
    { status: "running", label: "running", count: group.running },
    { status: "error", label: "error", count: group.error },
    { status: "cancelled", label: "cancelled", count: group.cancelled },
  ];
  const percent = Math.round(group.completionRate * 100);
  return (
    <div className="flex flex-col gap-2.5">
      <div className="flex items-baseline justify-between gap-3">
        <span className="font-medium">{percent}% completed</span>
        <span className="text-muted">
          {countText(group.completed)} of {countText(group.total)}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label="Completion"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        className="flex h-2.5 gap-0.5 overflow-hidden rounded-full bg-raised"
      >
        {shares
          .filter(({ count }) => count > 0)
          .map(({ status, count }) => (
            <span
              key={status}
              data-status={status}
              className="bar h-full"
              style={{ width: `${(count / Math.max(1, group.total)) * 100}%` }}
            />
          ))}
      </div>
      <ul className="flex flex-wrap gap-x-5 gap-y-1">
        {shares.map(({ status, label, count }) => (
          <li key={status} data-status={status} className="inline-flex items-center gap-1.5 text-muted">
            <Icon name={status} className="size-3.5 text-tone" />
            <span className="font-medium text-ink">{countText(count)}</span> {label}
          </li>
        ))}
      </ul>
    </div>
  );
}
