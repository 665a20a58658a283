/**
 * One column: its cards, of which only the visible ones are rendered, and a drop target for cards. Loads more on
 * request.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type DragEvent, type KeyboardEvent, type RefObject, useDeferredValue, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { MAX_ITEM_PAGES, useFoundItems, useItems } from "../server/board-queries.ts";
import type { ItemRow, ItemStatus } from "../server/operate.ts";
import { countText } from "../wording/amounts.ts";
import { itemStatusLabel } from "../wording/item-statuses.ts";
import { focusCard, focusNeighbour } from "./card-focus.ts";
import { type DraggedItem, draggedItem, isItemDrag } from "./dragged-item.ts";
import { ItemCard } from "./item-card.tsx";
import { joined, matching, rowsOf } from "./item-pages.ts";

const CARD_PX = 92;

export type OnMove = (item: ItemRow, to: ItemStatus, byKeys: boolean) => void;

interface BoardColumnProps {
  projectId: string;
  status: ItemStatus;
  filter: string;
  wantsFocus: RefObject<string | null>;
  onMove: OnMove;
}

export function BoardColumn({ projectId, status, filter, wantsFocus, onMove }: BoardColumnProps) {
  const items = useItems(projectId, status);
  const rows = rowsOf(items.data);
  const search = useDeferredValue(filter.trim());
  const found = useFoundItems(projectId, status, search);
  const shown = filter.trim() === "" ? rows : joined(matching(rows, filter), found.data?.tasks ?? []);
  const count = `${countText(rows.length)}${items.hasNextPage ? "+" : ""}`;
  const label = itemStatusLabel(status);
  const drop = useDrop((item) => onMove(item, status, false));
  return (
    <section
      aria-label={label}
      data-column={status}
      {...drop.handlers}
      className={`flex w-[84vw] shrink-0 snap-center flex-col rounded-xl border bg-well sm:w-auto sm:min-w-52 sm:flex-1 sm:shrink ${drop.isOver ? "border-accent ring-2 ring-accent/30" : "border-line"}`}
    >
      <header className="flex items-baseline gap-2 px-3 pt-2.5 pb-2">
        <h2 className="font-semibold">{label}</h2>
        <span className="text-muted" title={filter === "" ? "Loaded work items" : "Work items found"}>
          {filter === "" ? count : `${countText(shown.length)}${found.data?.next_cursor ? "+" : ""} found`}
        </span>
      </header>
      {items.isError && (
        <div className="px-2 pb-2">
          <FailureNote title="Not loaded" failure={items.error} onRetry={() => void items.refetch()} />
        </div>
      )}
      <Cards rows={shown} status={status} wantsFocus={wantsFocus} onMove={onMove} empty={emptyText(items, filter)}>
        {filter === "" && items.hasNextPage && (
          <Button
            className="mt-2 w-full"
            disabled={items.isFetchingNextPage}
            onClick={() => void items.fetchNextPage()}
          >
            {items.isFetchingNextPage ? "Loading…" : "Show more"}
          </Button>
        )}
        {filter === "" && isAtLimit(items.data) && (
          <p className="mt-2 px-1 text-xs text-muted">Older work items are not shown here: the filter finds them.</p>
        )}
      </Cards>
    </section>
  );
}

type Items = ReturnType<typeof useItems>;

function emptyText({ isPending, isError }: Items, filter: string): string {
  if (isPending) return "Loading…";
  if (isError) return "";
  return filter === "" ? "Nothing here" : "No match";
}

function isAtLimit(data: Items["data"]): boolean {
  return (data?.pages.length ?? 0) >= MAX_ITEM_PAGES && data?.pages.at(-1)?.next_cursor !== null;
}

interface CardsProps extends Pick<BoardColumnProps, "status" | "wantsFocus" | "onMove"> {
  rows: readonly ItemRow[];
  empty: string;
  children: React.ReactNode;
}

function Cards({ rows, status, wantsFocus, onMove, empty, children }: CardsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.id ?? index,
    estimateSize: () => CARD_PX,
    gap: 8,
    overscan: 4,
    useFlushSync: false,
  });
  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    if (step !== undefined && focusCard(scroller.current, event.target, step)) event.preventDefault();
    if (event.key === "ArrowRight" && focusNeighbour(scroller.current, 1)) event.preventDefault();
    if (event.key === "ArrowLeft" && focusNeighbour(scroller.current, -1)) event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows only carry the focus between the cards' own links
    <div ref={scroller} onKeyDown={press} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      {rows.length === 0 && <p className="px-1 py-2 text-faint">{empty}</p>}
      <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start, key }) => {
          const item = rows[index];
          return (
            item && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <ItemCard item={item} status={status} wantsFocus={wantsFocus} onMove={onMove} />
              </li>
            )
          );
        })}
      </ul>
      {children}
    </div>
  );
}

function useDrop(onItem: (item: DraggedItem) => void) {
  const [isOver, setIsOver] = useState(false);
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!isItemDrag(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "move";
      setIsOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setIsOver(false);
    },
    onDrop: (event: DragEvent) => {
      setIsOver(false);
      const item = draggedItem(event);
      if (!item) return;
      event.preventDefault();
      onItem(item);
    },
  };
  return { isOver, handlers };
}
