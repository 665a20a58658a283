/**
 * What was spent, by day and model: stacked bars, the sums of each model, and the same as a table for people who cannot
 * see the bars. Says where a price is not known instead of showing nothing spent.
 */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { compactText, costText, counted, countText } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { UsageBars } from "./usage-bars.tsx";
import { type DailyUsage, dailyUsage, type ModelTotal, USAGE_DAYS, type UsageDays, usageQuery } from "./usage-days.ts";

const REFRESH_MS = 60_000;

export function UsageSection() {
  const [days, setDays] = useState<UsageDays>(30);
  const { data, error, isError, refetch } = useQuery({
    queryKey: queryKeys.usage(`${days}`),
    queryFn: ({ signal }) => readingClient.usage(usageQuery(days, new Date()), signal),
    refetchInterval: REFRESH_MS,
    placeholderData: (previous) => previous,
  });
  const usage = data && dailyUsage(data);
  return (
    <section aria-label="Cost" className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-[15px] font-semibold">Cost by day and model</h2>
        <fieldset aria-label="Days" className="flex rounded-md bg-raised p-0.5">
          {USAGE_DAYS.map((choice) => (
            <button
              key={choice}
              type="button"
              aria-pressed={choice === days}
              aria-label={`${choice}d: last ${choice} days`}
              onClick={() => setDays(choice)}
              className={`h-7 rounded px-3 transition-colors ${choice === days ? "bg-surface font-medium shadow-sm ring-1 ring-line" : "text-muted hover:text-ink"}`}
            >
              {choice}d
            </button>
          ))}
        </fieldset>
      </div>
      {isError && <FailureNote title="The cost could not be loaded" failure={error} onRetry={() => void refetch()} />}
      {usage && <Usage usage={usage} />}
    </section>
  );
}

function Usage({ usage }: { usage: DailyUsage }) {
  const { total, models } = usage;
  if (total.tasks === 0) {
    return (
      <p className="rounded-xl border border-line bg-surface p-6 text-center text-muted">
        No task started in these days.
      </p>
    );
  }
  return (
    <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
      <div className="min-w-0 rounded-xl border border-line bg-surface p-4">
        <h3 className="mb-3 flex flex-wrap items-baseline gap-x-3 font-medium text-muted">
          Cost of the tasks that started on a day
          <span className="ml-auto text-ink">{spentText(total)}</span>
        </h3>
        <UsageBars usage={usage} />
      </div>
      <div className="min-w-0 rounded-xl border border-line bg-surface p-4">
        <h3 className="mb-2 font-medium text-muted">Models</h3>
        <table className="w-full">
          <thead className="sr-only">
            <tr>
              <th>Model</th>
              <th>Tasks</th>
              <th>Tokens</th>
              <th>Cost</th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {models.map((model, index) => (
              <tr key={model.model} data-model={model.model}>
                <th scope="row" className="w-full max-w-0 py-1.5 pr-3 text-left font-normal">
                  <span className="flex items-center gap-2" title={visibleText(model.model)}>
                    <span aria-hidden="true" data-series={index} className="series size-2.5 shrink-0 rounded-[3px]" />
                    <span className="foreign min-w-0 truncate">
                      <ForeignText text={model.model} />
                    </span>
                  </span>
                </th>
                <td className="py-1.5 pr-3 text-right whitespace-nowrap text-muted max-sm:hidden">
                  {counted(model.tasks, "task")}
                </td>
                <td className="py-1.5 pr-3 text-right whitespace-nowrap text-muted">{compactText(model.tokens)}</td>
                <td className="py-1.5 text-right font-medium whitespace-nowrap">{spentText(model)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {total.unpriced > 0 && (
          <p className="mt-3 text-xs text-muted">
            {counted(total.unpriced, "task")} used tokens, but neither the agent nor the settings know a price for the
            model: what {total.unpriced === 1 ? "it" : "they"} cost is not in these figures.
          </p>
        )}
      </div>
      <DayTable usage={usage} />
    </div>
  );
}

/** "unknown", or at least so much, where prices are missing. */
export function spentText({ cost, unpriced }: Pick<ModelTotal, "cost" | "unpriced">): string {
  if (unpriced === 0) return costText(cost);
  return cost === 0 ? "unknown" : `at least ${costText(cost)}`;
}

function DayTable({ usage: { days, models } }: { usage: DailyUsage }) {
  return (
    <table className="sr-only">
      <caption>Cost by day and model</caption>
      <thead>
        <tr>
          <th>Day</th>
          {models.map(({ model }) => (
            <th key={model}>
              <ForeignText text={model} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {days
          .filter(({ total }) => total.tasks > 0)
          .map(({ at, models: own }) => (
            <tr key={at}>
              <th>{new Date(at).toLocaleDateString()}</th>
              {own.map((model) => (
                <td key={model.model}>{model.tasks === 0 ? countText(0) : spentText(model)}</td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}
