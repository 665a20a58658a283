/**
 * One amount per agent as horizontal bars, largest first.
 */
import type { AgentStats } from "../../../src/protocol/statistics.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { visibleText } from "../wording/hidden-characters.ts";

interface AgentBarsProps {
  title: string;
  agents: readonly AgentStats[];
  amount: (agent: AgentStats) => number;
  text: (amount: number) => string;
}

const SHOWN = 12;

export function AgentBars({ title, agents, amount, text }: AgentBarsProps) {
  const sorted = [...agents].sort((one, other) => amount(other) - amount(one)).slice(0, SHOWN);
  const most = Math.max(...sorted.map(amount), 0);
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border border-line bg-surface p-4">
      <h3 className="mb-3 font-medium text-muted">{title}</h3>
      <ul className="flex flex-col gap-2">
        {sorted.map((agent) => (
          <li key={agent.agent} className="grid grid-cols-[minmax(0,8rem)_minmax(0,1fr)_4.5rem] items-center gap-3">
            <span className="foreign truncate" title={visibleText(agent.agent)}>
              <ForeignText text={agent.agent} />
            </span>
            <span className="h-2 rounded-full bg-raised">
              <span
                className="block h-full min-w-0.5 rounded-full bg-accent/80"
                style={{ width: `${most === 0 ? 0 : (amount(agent) / most) * 100}%` }}
              />
            </span>
            <span className="text-right text-muted">{text(amount(agent))}</span>
          </li>
        ))}
      </ul>
      {sorted.length === 0 && <p className="text-muted">Nothing yet.</p>}
    </section>
  );
}
