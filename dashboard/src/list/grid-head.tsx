/**
 * The grid's columns: their names, widths and alignment. The rows use the same template.
 */

/** Tokens and cost are hidden at medium widths; the narrow form has two lines and no columns. */
export const COLUMNS =
  "grid grid-cols-[6.75rem_minmax(0,2fr)_minmax(4rem,7.5rem)_minmax(0,1.5fr)_4.75rem_5.5rem] lg:grid-cols-[6.75rem_minmax(0,2fr)_minmax(4rem,9rem)_minmax(0,1.5fr)_4.25rem_4.25rem_4.75rem_5.5rem] items-center gap-x-4 px-5";

const NAMES = [
  { name: "Status", look: "" },
  { name: "Task", look: "" },
  { name: "Agent", look: "" },
  { name: "Progress", look: "" },
  { name: "Tokens", look: "hidden text-right lg:block" },
  { name: "Cost", look: "hidden text-right lg:block" },
  { name: "Duration", look: "text-right" },
  { name: "Started", look: "text-right" },
];

export function GridHead({ isNarrow }: { isNarrow: boolean }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of a virtual grid, which a table element cannot be
    <div
      role="rowgroup"
      className={isNarrow ? "sr-only" : "overflow-y-hidden border-b border-line [scrollbar-gutter:stable]"}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid is the one stop, rows are its active descendants */}
      <div role="row" aria-rowindex={1} className={`${COLUMNS} h-8 text-xs text-faint`}>
        {NAMES.map(({ name, look }) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <span role="columnheader" key={name} className={look}>
            {name}
          </span>
        ))}
      </div>
    </div>
  );
}
