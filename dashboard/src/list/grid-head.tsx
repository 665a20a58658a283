/**
 * The grid's columns: their names, widths and alignment, and the order of the list. The rows use the same template.
 */
import type { TaskSort } from "../../../src/model/task.ts";
import { Icon } from "../parts/icons.tsx";
import { type Filters, listPath } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { sortedBy } from "./sorting.ts";

/** Tokens and cost are hidden at medium widths; the narrow form has two lines and no columns. */
export const COLUMNS =
  "grid grid-cols-[6.75rem_minmax(0,2fr)_minmax(4rem,7.5rem)_minmax(0,1.5fr)_4.75rem_5.5rem] lg:grid-cols-[6.75rem_minmax(0,2fr)_minmax(4rem,9rem)_minmax(0,1.5fr)_4.25rem_4.25rem_4.75rem_5.5rem] items-center gap-x-4 px-5";

interface Column {
  name: string;
  look: string;
  sort?: TaskSort;
}

const COLUMN_LIST: Column[] = [
  { name: "Status", look: "", sort: "status" },
  { name: "Task", look: "", sort: "description" },
  { name: "Agent", look: "" },
  { name: "Progress", look: "" },
  { name: "Tokens", look: "hidden text-right lg:block" },
  { name: "Cost", look: "hidden text-right lg:block", sort: "cost" },
  { name: "Duration", look: "text-right", sort: "took" },
  { name: "Started", look: "text-right", sort: "started" },
];

export function GridHead({ filters, isNarrow }: { filters: Filters; isNarrow: boolean }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of a virtual grid, which a table element cannot be
    <div
      role="rowgroup"
      className={isNarrow ? "sr-only" : "overflow-y-hidden border-b border-line [scrollbar-gutter:stable]"}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid is the one stop, rows are its active descendants */}
      <div role="row" aria-rowindex={1} className={`${COLUMNS} h-8 text-xs text-faint`}>
        {COLUMN_LIST.map(({ name, look, sort }) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <span
            role="columnheader"
            key={name}
            aria-sort={sort === undefined ? undefined : sortWord(filters, sort)}
            className={`min-w-0 ${look}`}
          >
            {sort === undefined || isNarrow ? name : <SortButton name={name} sort={sort} filters={filters} />}
          </span>
        ))}
      </div>
    </div>
  );
}

function sortWord({ sort, isAscending }: Filters, column: TaskSort): "ascending" | "descending" | "none" {
  if (sort !== column) return "none";
  return isAscending ? "ascending" : "descending";
}

function SortButton({ name, sort, filters }: { name: string; sort: TaskSort; filters: Filters }) {
  const isChosen = filters.sort === sort;
  return (
    <button
      type="button"
      title={`Sort by ${name.toLowerCase()}`}
      onClick={() => navigate(listPath({ ...filters, ...sortedBy(filters, sort) }))}
      className={`group/sort -mx-1.5 inline-flex h-6 items-center gap-0.5 rounded px-1.5 hover:bg-raised hover:text-ink ${isChosen ? "font-medium text-ink" : ""}`}
    >
      {name}
      <Icon
        name="chevron"
        className={`size-2.5 ${filters.isAscending && isChosen ? "-rotate-90" : "rotate-90"} ${isChosen ? "" : "w-0 opacity-0"}`}
      />
    </button>
  );
}
