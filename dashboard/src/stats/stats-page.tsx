/**
 * The stats: totals, the runners, the notifications, the history, cost by day and model, and what each agent did and
 * used.
 */
import type { Stats } from "../../../src/protocol/statistics.ts";
import { FailureNote } from "../parts/failure-note.tsx";
import { useStats } from "../server/queries.ts";
import { compactText, costText, countText, totalTokens } from "../wording/amounts.ts";
import { durationText } from "../wording/durations.ts";
import { AgentBars } from "./agent-bars.tsx";
import { AgentTable } from "./agent-table.tsx";
import { HistorySection } from "./history-section.tsx";
import { NotificationsSection } from "./notifications-section.tsx";
import { RunnersSection } from "./runners-section.tsx";
import { UsageSection } from "./usage-section.tsx";

export function StatsPage() {
  const { data: stats, error, isError, refetch } = useStats();
  return (
    <div className="live-data mx-auto flex w-full max-w-7xl flex-col gap-6 px-3 py-4 sm:px-5 sm:py-6">
      <h1 className="text-lg font-semibold tracking-tight sm:text-xl">Stats</h1>
      {isError && <FailureNote title="The stats could not be loaded" failure={error} onRetry={() => void refetch()} />}
      {stats && <Totals stats={stats} />}
      <RunnersSection />
      <NotificationsSection />
      <HistorySection />
      <UsageSection />
      {stats && (
        <>
          <h2 className="-mb-2 text-[15px] font-semibold">Agents</h2>
          <div className="grid gap-4 lg:grid-cols-2">
            <AgentBars
              title="Tokens by agent"
              agents={stats.agents}
              amount={(agent) => totalTokens(agent.tokens)}
              text={compactText}
            />
            <AgentBars title="Cost by agent" agents={stats.agents} amount={(agent) => agent.cost} text={costText} />
          </div>
          <AgentTable agents={stats.agents} />
        </>
      )}
    </div>
  );
}

function Totals({ stats }: { stats: Stats }) {
  const sum = (amount: (agent: Stats["agents"][number]) => number) =>
    stats.agents.reduce((total, agent) => total + amount(agent), 0);
  const ended = stats.totalTasks - stats.activeTasks;
  const amounts = [
    { name: "Tasks", value: countText(stats.totalTasks) },
    { name: "Active", value: countText(stats.activeTasks) },
    {
      name: "Completed",
      value: ended === 0 ? "–" : `${(((stats.byStatus.completed ?? 0) / ended) * 100).toFixed(1)}%`,
    },
    { name: "Average run", value: stats.duration.count === 0 ? "–" : durationText(stats.duration.avg) },
    { name: "Longest run", value: stats.duration.count === 0 ? "–" : durationText(stats.duration.max) },
    { name: "Tokens", value: compactText(sum((agent) => totalTokens(agent.tokens))) },
    { name: "Cost", value: costText(sum((agent) => agent.cost)) },
  ];
  return (
    <dl
      aria-label="Totals"
      className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-4 lg:grid-cols-7"
    >
      {amounts.map(({ name, value }) => (
        <div
          key={name}
          className="flex flex-col-reverse bg-surface px-4 py-3 last:col-span-2 sm:last:col-span-2 lg:last:col-span-1"
        >
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="text-xl font-semibold tracking-tight">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
