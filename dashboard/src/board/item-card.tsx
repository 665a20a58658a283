/**
 * A work item as a card: its title, and the state of its latest attempt. The whole card opens the item.
 */
import { type DragEvent, type KeyboardEvent, memo, type RefObject, useLayoutEffect, useRef } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../routing/link.tsx";
import { itemPath } from "../routing/route.ts";
import type { ItemRow, ItemStatus } from "../server/operate.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { ITEM_STATUSES, itemStatusLabel, neighbourStatus } from "../wording/item-statuses.ts";
import type { OnMove } from "./board-column.tsx";
import { CardAttempt } from "./card-attempt.tsx";
import { beginItemDrag } from "./dragged-item.ts";

interface ItemCardProps {
  item: ItemRow;
  status: ItemStatus;
  wantsFocus: RefObject<string | null>;
  onMove: OnMove;
}

export const ItemCard = memo(function ItemCard({ item, status, wantsFocus, onMove }: ItemCardProps) {
  const card = useRef<HTMLElement>(null);
  // Before the next key can arrive.
  useLayoutEffect(() => {
    if (wantsFocus.current !== item.id) return;
    wantsFocus.current = null;
    card.current?.querySelector<HTMLElement>("[data-card-link]")?.focus();
    card.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [item.id, wantsFocus]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] as 1 | -1 | undefined;
    const to = step === undefined || !event.shiftKey ? null : neighbourStatus(status, step);
    if (to === null) return;
    event.preventDefault();
    onMove(item, to, true);
  };
  return (
    <article
      ref={card}
      data-item-id={item.id}
      draggable
      onDragStart={(event: DragEvent) => beginItemDrag(event, item)}
      className="group relative flex flex-col gap-2 rounded-lg border border-line bg-card p-2.5 shadow-xs hover:border-strong-line has-[[data-card-link]:focus-visible]:outline-2 has-[[data-card-link]:focus-visible]:outline-accent"
    >
      <div className="flex items-start gap-1">
        <Link
          href={itemPath(item.id)}
          draggable={false}
          data-card-link
          aria-keyshortcuts="Shift+ArrowLeft Shift+ArrowRight"
          onKeyDown={press}
          className="foreign line-clamp-3 min-w-0 flex-1 leading-snug font-medium outline-none after:absolute after:inset-0"
        >
          <ForeignText text={item.title} />
        </Link>
        <MoveMenu item={item} status={status} onMove={onMove} />
      </div>
      <CardAttempt item={item} />
    </article>
  );
});

/** A select under an icon: it works with a mouse, a keyboard and a touch screen. */
function MoveMenu({ item, status, onMove }: Pick<ItemCardProps, "item" | "status" | "onMove">) {
  return (
    <span className="relative -my-1 -mr-1 grid size-7 shrink-0 place-items-center rounded-md text-faint hover:bg-raised hover:text-ink focus-within:outline-2 focus-within:outline-accent">
      <Icon name="move" className="size-3.5" />
      <select
        aria-label={`Move “${visibleText(item.title)}”`}
        title="Move"
        value={status}
        onChange={(event) => onMove(item, event.target.value as ItemStatus, false)}
        className="absolute inset-0 z-10 size-full cursor-pointer opacity-0"
      >
        {ITEM_STATUSES.map((each) => (
          <option key={each} value={each}>
            {itemStatusLabel(each)}
          </option>
        ))}
      </select>
    </span>
  );
}
