/**
 * The filters of the list, kept in the address bar: statuses, agent, search. Typing replaces the address, so that
 * "back" does not undo letter by letter.
 */
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { Button } from "../parts/button.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { type Filters, isFiltered, listPath, NO_FILTERS } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { useStats } from "../server/queries.ts";
import { compactText, countText } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { TASK_STATUSES } from "../wording/statuses.ts";
import { SearchBox } from "./search-box.tsx";

export function FilterBar({ filters, matching }: { filters: Filters; matching: number | null }) {
  const { data: stats } = useStats();
  const agents = [...new Set([...Object.keys(stats?.byAgent ?? {}), ...(filters.agent ? [filters.agent] : [])])].sort();
  const toggle = (status: BackgroundTaskStatus) => {
    const isOn = filters.statuses.includes(status);
    const statuses = isOn ? filters.statuses.filter((other) => other !== status) : [...filters.statuses, status];
    navigate(listPath({ ...filters, statuses }));
  };
  return (
    <search className="flex flex-wrap items-center gap-2 px-3 pb-3 sm:px-5">
      <SearchBox filters={filters} />
      <select
        aria-label="Agent"
        value={filters.agent}
        onChange={(event) => navigate(listPath({ ...filters, agent: event.target.value }))}
        className="h-8 max-w-36 rounded-md bg-surface px-2 text-ink ring-1 ring-line ring-inset"
      >
        <option value="">All agents</option>
        {agents.map((agent) => (
          <option key={agent} value={agent}>
            {visibleText(agent)}
          </option>
        ))}
      </select>
      <fieldset aria-label="Status" className="-mx-3 flex min-w-0 gap-1.5 overflow-x-auto px-3 py-0.5 sm:mx-0 sm:px-0">
        {TASK_STATUSES.map((status) => (
          <StatusToggle
            key={status}
            status={status}
            count={stats?.byStatus[status] ?? 0}
            isOn={filters.statuses.includes(status)}
            onToggle={() => toggle(status)}
          />
        ))}
      </fieldset>
      {isFiltered(filters) && (
        <>
          <span className="text-muted">{matching === null ? "…" : matchText(matching)}</span>
          <Button weight="quiet" onClick={() => navigate(listPath(NO_FILTERS))}>
            Clear filters
          </Button>
        </>
      )}
    </search>
  );
}

function matchText(count: number): string {
  return count === 1 ? "1 match" : `${countText(count)} matches`;
}

interface StatusToggleProps {
  status: BackgroundTaskStatus;
  count: number;
  isOn: boolean;
  onToggle: () => void;
}

function StatusToggle({ status, count, isOn, onToggle }: StatusToggleProps) {
  const look = isOn ? "bg-tone/14 text-tone ring-tone/45" : "bg-surface text-muted ring-line hover:bg-raised";
  return (
    <button
      type="button"
      data-status={status}
      aria-pressed={isOn}
      onClick={onToggle}
      className={`inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-2.5 ring-1 transition-colors ring-inset ${look}`}
    >
      <StatusIcon status={status} isStill />
      {`${status} `}
      <span className={isOn ? "" : "text-faint"}>{compactText(count)}</span>
    </button>
  );
}
