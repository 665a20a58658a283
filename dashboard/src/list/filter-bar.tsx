/**
 * The filters of the list, kept in the address bar: search, agent, period and statuses, the others in a panel below.
 * Typing replaces the address, so that "back" does not undo letter by letter.
 */
import { useState } from "react";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { useIsNarrow } from "../browser/media.ts";
import { Button } from "../parts/button.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import {
  type Filters,
  hiddenFilters,
  isFiltered,
  listPath,
  PERIODS,
  type Period,
  unfiltered,
} from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { useStats } from "../server/queries.ts";
import { compactText, countText } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { TASK_STATUSES } from "../wording/statuses.ts";
import { BulkActions } from "./bulk/bulk-actions.tsx";
import { PERIOD_WORDS } from "./filter-words.ts";
import { MoreFilters } from "./more-filters.tsx";
import { SearchBox } from "./search-box.tsx";
import { ORDERS, orderName } from "./sorting.ts";

const SELECT = "h-8 min-w-0 rounded-md bg-surface px-2 text-ink ring-1 ring-line ring-inset";
const PERIOD_NAMES = Object.keys(PERIODS) as Period[];

export function FilterBar({ filters, matching }: { filters: Filters; matching: number | null }) {
  const { data: stats } = useStats();
  const hidden = hiddenFilters(filters);
  const [isOpen, setIsOpen] = useState(false);
  const isNarrow = useIsNarrow();
  const change = (changed: Partial<Filters>) => navigate(listPath({ ...filters, ...changed }));
  const toggle = (status: BackgroundTaskStatus) => {
    const isOn = filters.statuses.includes(status);
    change({ statuses: isOn ? filters.statuses.filter((other) => other !== status) : [...filters.statuses, status] });
  };
  return (
    <search className="flex flex-col gap-2 px-3 pb-3 sm:px-5">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox filters={filters} />
        <AgentChoice
          agent={filters.agent}
          known={Object.keys(stats?.byAgent ?? {})}
          onChoose={(agent) => change({ agent })}
        />
        <PeriodChoice filters={filters} onChange={change} onBetween={() => setIsOpen(true)} />
        <Button aria-expanded={isOpen} aria-controls="more-filters" onClick={() => setIsOpen(!isOpen)}>
          {hidden === 0 ? "More filters" : `More filters (${hidden})`}
        </Button>
        {isNarrow && <OrderChoice filters={filters} onChange={change} />}
        <fieldset
          aria-label="Status"
          className="-mx-3 flex min-w-0 gap-1.5 overflow-x-auto px-3 py-0.5 sm:mx-0 sm:px-0"
        >
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
      </div>
      {isOpen && <MoreFilters key={listPath(filters)} filters={filters} onClose={() => setIsOpen(false)} />}
      {isFiltered(filters) && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{matching === null ? "…" : matchText(matching)}</span>
          {matching !== null && matching > 0 && <BulkActions filters={filters} />}
          <Button weight="quiet" onClick={() => navigate(listPath(unfiltered(filters)))}>
            Clear filters
          </Button>
        </div>
      )}
    </search>
  );
}

function matchText(count: number): string {
  return count === 1 ? "1 match" : `${countText(count)} matches`;
}

interface AgentChoiceProps {
  agent: string;
  known: readonly string[];
  onChoose: (agent: string) => void;
}

function AgentChoice({ agent, known, onChoose }: AgentChoiceProps) {
  const agents = [...new Set([...known, ...(agent === "" ? [] : [agent])])].sort();
  return (
    <select
      aria-label="Agent"
      value={agent}
      onChange={(event) => onChoose(event.target.value)}
      className={`${SELECT} max-w-36`}
    >
      <option value="">All agents</option>
      {agents.map((name) => (
        <option key={name} value={name}>
          {visibleText(name)}
        </option>
      ))}
    </select>
  );
}

interface ChoiceProps {
  filters: Filters;
  onChange: (changed: Partial<Filters>) => void;
}

function PeriodChoice({ filters, onChange, onBetween }: ChoiceProps & { onBetween: () => void }) {
  const isBetween = filters.period === "" && (filters.from !== "" || filters.to !== "");
  const choose = (chosen: string) => {
    if (chosen === "between") onBetween();
    else onChange({ period: PERIOD_NAMES.find((period) => period === chosen) ?? "", from: "", to: "" });
  };
  return (
    <select
      aria-label="Started"
      value={isBetween ? "between" : filters.period}
      onChange={(event) => choose(event.target.value)}
      className={SELECT}
    >
      <option value="">Any time</option>
      {PERIOD_NAMES.map((period) => (
        <option key={period} value={period}>
          {PERIOD_WORDS[period]}
        </option>
      ))}
      <option value="between">Between…</option>
    </select>
  );
}

/** Where there are no columns to click on. */
function OrderChoice({ filters, onChange }: ChoiceProps) {
  const choose = (name: string) => {
    const chosen = ORDERS.find((each) => each.name === name);
    if (chosen) onChange(chosen.order);
  };
  return (
    <select
      aria-label="Sort by"
      value={orderName(filters)}
      onChange={(event) => choose(event.target.value)}
      className={SELECT}
    >
      {ORDERS.map(({ name, label }) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
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
