/**
 * All figures by agent in one table. On narrow screens the table scrolls, not the page.
 */
import type { AgentStats } from "../../../src/protocol/statistics.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { compactText, costText, countText, totalTokens } from "../wording/amounts.ts";
import { durationText } from "../wording/durations.ts";

const COLUMNS: { name: string; text: (agent: AgentStats) => string }[] = [
  { name: "Tasks", text: (agent) => countText(agent.tasks) },
  { name: "Active", text: (agent) => countText(agent.active) },
  { name: "Completed", text: (agent) => countText(agent.byStatus.completed ?? 0) },
  { name: "Failed", text: (agent) => countText(agent.byStatus.error ?? 0) },
  { name: "Cancelled", text: (agent) => countText(agent.byStatus.cancelled ?? 0) },
  { name: "Tool calls", text: (agent) => countText(agent.toolCalls) },
  { name: "Tokens", text: (agent) => compactText(totalTokens(agent.tokens)) },
  { name: "Cost", text: (agent) => costText(agent.cost) },
  { name: "Average", text: (agent) => (agent.duration.count === 0 ? "–" : durationText(agent.duration.avg)) },
  { name: "Longest", text: (agent) => (agent.duration.count === 0 ? "–" : durationText(agent.duration.max)) },
];

export function AgentTable({ agents }: { agents: readonly AgentStats[] }) {
  const sorted = [...agents].sort((one, other) => other.tasks - one.tasks);
  return (
    <section
      aria-label="Agents"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on narrow screens, also by keys.
      tabIndex={0}
      className="overflow-x-auto rounded-xl border border-line bg-surface"
    >
      <table className="w-full text-right whitespace-nowrap">
        <thead>
          <tr className="border-b border-line text-xs text-faint">
            <th scope="col" className="px-4 py-2 text-left font-normal">
              Agent
            </th>
            {COLUMNS.map(({ name }) => (
              <th scope="col" key={name} className="px-4 py-2 font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((agent) => (
            <tr key={agent.agent} className="border-b border-line/70 last:border-0 hover:bg-raised/60">
              <th scope="row" className="foreign max-w-48 truncate px-4 py-2.5 text-left font-medium">
                {/* A queued task whose agent its runner chooses. */}
                <ForeignText text={agent.agent || "not known yet"} />
              </th>
              {COLUMNS.map(({ name, text }) => (
                <td key={name} className="px-4 py-2.5 text-muted">
                  {text(agent)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
