/**
 * The virtual grid: as tall as the whole list, but only the visible rows and the selected one are rendered. The grid
 * is one tab stop; its keys move the focus from row to row.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useIsNarrow } from "../browser/media.ts";
import type { Filters } from "../routing/filters.ts";
import { GridHead } from "./grid-head.tsx";
import { recallList, rememberList } from "./list-memory.ts";
import type { TaskPages } from "./task-pages.ts";
import { rowId, TaskRow } from "./task-row.tsx";
import { useSelection } from "./use-selection.ts";

const WIDE_ROW = 44;
const NARROW_ROW = 60;
const LOOKAHEAD = 40;

interface TaskGridProps {
  path: string;
  filters: Filters;
  pages: TaskPages;
  onClear: () => void;
}

export function TaskGrid({ path, filters, pages, onClear }: TaskGridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const rowHeight = isNarrow ? NARROW_ROW : WIDE_ROW;
  const [kept, setKept] = useState(-1);
  const virtualizer = useVirtualizer({
    count: pages.total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    rangeExtractor: (range) => withRow(defaultRangeExtractor(range), kept, range.count),
    initialOffset: recallList(path).offset,
    useFlushSync: false,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const wantsFocus = useRef(false);
  const reveal = (index: number) => {
    wantsFocus.current = true;
    virtualizer.scrollToIndex(index);
  };
  const { selectedIndex, select } = useSelection(path, pages, reveal, onClear);
  // The focused row must not leave the page.
  if (selectedIndex !== kept) setKept(selectedIndex);
  useEffect(() => {
    const row = wantsFocus.current && selectedIndex !== -1 ? document.getElementById(rowId(selectedIndex)) : null;
    if (!row) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  });
  useKeptPlace(scroller, pages, rowHeight);
  // Before the element is removed: afterwards it no longer knows its position.
  useLayoutEffect(() => {
    const element = scroller.current;
    return () => rememberList(path, { ...recallList(path), offset: element?.scrollTop ?? 0 });
  }, [path]);

  const items = virtualizer.getVirtualItems();
  const first = virtualizer.range?.startIndex ?? 0;
  const last = virtualizer.range?.endIndex ?? 0;
  useEffect(() => pages.show(Math.max(0, first - LOOKAHEAD), last + LOOKAHEAD), [pages, first, last, pages.total]);

  return (
    // biome-ignore lint/a11y/useSemanticElements: only the rows in view exist, which a table element cannot say
    <div
      role="grid"
      aria-label="Tasks"
      aria-rowcount={(pages.total ?? 0) + 1}
      aria-busy={pages.total === null}
      tabIndex={selectedIndex === -1 ? 0 : -1}
      className="live-data flex min-h-0 flex-1 flex-col border-t border-line bg-surface focus-visible:outline-offset-[-2px]"
    >
      <GridHead filters={filters} isNarrow={isNarrow} />
      <div ref={scroller} className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto [scrollbar-gutter:stable]">
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <TaskRow
              key={index}
              index={index}
              top={start}
              height={rowHeight}
              task={pages.row(index)}
              isSelected={index === selectedIndex}
              isNarrow={isNarrow}
              onSelect={select}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function withRow(indexes: number[], index: number, count: number): number[] {
  if (index < 0 || index >= count || indexes.includes(index)) return indexes;
  return [...indexes, index].sort((one, other) => one - other);
}

/** A list that is scrolled down stays in place when tasks are added on top. */
function useKeptPlace(scroller: RefObject<HTMLDivElement | null>, pages: TaskPages, rowHeight: number): void {
  const seen = useRef(pages.inserted);
  const { inserted } = pages;
  useLayoutEffect(() => {
    const added = inserted - seen.current;
    seen.current = inserted;
    const element = scroller.current;
    if (element && added > 0 && element.scrollTop > rowHeight / 2) element.scrollTop += added * rowHeight;
  }, [scroller, inserted, rowHeight]);
}
