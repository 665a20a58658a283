/**
 * The history over a chosen range: the plots, their legend, and the same figures as tables for people who cannot see
 * them.
 */
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { StatsHistory } from "../../../src/protocol/statistics.ts";
import { ErrorBoundary } from "../parts/error-boundary.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { countText } from "../wording/amounts.ts";
import { exactText } from "../wording/durations.ts";
import { FIRST_RANGE, historyQuery, RANGES, type Range } from "./history-ranges.ts";
import { durationLabels, STACK } from "./history-series.ts";

const StartedPlot = lazy(async () => ({ default: (await import("./history-plots.tsx")).StartedPlot }));
const DurationsPlot = lazy(async () => ({ default: (await import("./history-plots.tsx")).DurationsPlot }));

const REFRESH_MS = 30_000;

export function HistorySection() {
  const [range, setRange] = useState<Range>(FIRST_RANGE);
  const {
    data: history,
    error,
    isError,
    refetch,
  } = useQuery({
    queryKey: queryKeys.historyOf(range.name),
    queryFn: ({ signal }) => readingClient.history(historyQuery(range, Date.now()), signal),
    refetchInterval: REFRESH_MS,
    placeholderData: (previous) => previous,
  });
  return (
    <section aria-label="History" className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-[15px] font-semibold">History</h2>
        <RangeSelect range={range} onChange={setRange} />
      </div>
      {isError && (
        <FailureNote title="The history could not be loaded" failure={error} onRetry={() => void refetch()} />
      )}
      {history && (
        <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
          <Card title="Tasks started" legend={<Legend />}>
            <StartedPlot history={history} range={range} />
            <div className="sr-only">
              <StartedTable history={history} />
            </div>
          </Card>
          <Card title="Duration of runs">
            <DurationsPlot history={history} />
            <div className="sr-only">
              <DurationsTable history={history} />
            </div>
          </Card>
        </div>
      )}
    </section>
  );
}

function RangeSelect({ range, onChange }: { range: Range; onChange: (range: Range) => void }) {
  return (
    <fieldset aria-label="Range" className="flex rounded-md bg-raised p-0.5">
      {RANGES.map((choice) => (
        <button
          key={choice.name}
          type="button"
          aria-pressed={choice === range}
          aria-label={`${choice.name}: last ${choice.label}`}
          onClick={() => onChange(choice)}
          className={`h-7 rounded px-3 transition-colors ${choice === range ? "bg-surface font-medium shadow-sm ring-1 ring-line" : "text-muted hover:text-ink"}`}
        >
          {choice.name}
        </button>
      ))}
    </fieldset>
  );
}

function Card({ title, legend, children }: { title: string; legend?: ReactNode; children: ReactNode }) {
  return (
    <div className="min-w-0 rounded-xl border border-line bg-surface p-4">
      <div className="mb-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h3 className="font-medium text-muted">{title}</h3>
        {legend}
      </div>
      <ErrorBoundary title="This chart could not be shown">
        <Suspense fallback={<div className="h-[220px]" />}>{children}</Suspense>
      </ErrorBoundary>
    </div>
  );
}

function Legend() {
  return (
    <ul aria-hidden="true" className="flex flex-wrap gap-x-3 gap-y-1 text-xs">
      {STACK.map((status) => (
        <li key={status}>
          <StatusMark status={status} isStill />
        </li>
      ))}
    </ul>
  );
}

function StartedTable({ history }: { history: StatsHistory }) {
  return (
    <table>
      <caption>Tasks started, by status</caption>
      <thead>
        <tr>
          <th>From</th>
          {STACK.map((status) => (
            <th key={status}>{status}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {history.buckets.map(({ at, byStatus }) => (
          <tr key={at}>
            <th>{exactText(at)}</th>
            {STACK.map((status) => (
              <td key={status}>{countText(byStatus[status] ?? 0)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DurationsTable({ history }: { history: StatsHistory }) {
  const labels = durationLabels(history);
  return (
    <table>
      <caption>How long runs took</caption>
      <tbody>
        {history.durations.map(({ runs }, index) => (
          <tr key={labels[index]}>
            <th>{labels[index]}</th>
            <td>{countText(runs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
