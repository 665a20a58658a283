/**
 * The messages of a conversation, of which only the visible ones are rendered: space is reserved for the others, at
 * first by an estimate. The reading place corrects the shifts of a wrong estimate.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { LogMessage } from "../../../src/protocol/conversations.ts";
import type { ReadingPlace } from "../reading/reading-place.ts";
import { Message } from "./message.tsx";
import { OpenFolds } from "./open-folds.ts";

const GUESS_PX = 140;
const NEAR_START = 8;

interface MessageListProps {
  messages: readonly LogMessage[];
  scroller: RefObject<HTMLElement | null>;
  place: ReadingPlace;
  /** Requests earlier messages; called while the reader scrolls up to them. */
  onNearStart: () => void;
}

export function MessageList({ messages, scroller, place, onNearStart }: MessageListProps) {
  const list = useRef<HTMLOListElement>(null);
  const [folds] = useState(() => new Map<string, boolean>());
  const [start, setStart] = useState(0);
  const virtualizer = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => messages[index]?.id ?? index,
    estimateSize: () => GUESS_PX,
    scrollMargin: start,
    overscan: 4,
  });
  // Only one mechanism may keep the position.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false;
  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);

  useLayoutEffect(() => {
    place.locate = (key) => {
      const index = messages.findIndex((message) => message.id === key);
      return virtualizer.measurementsCache[index]?.start ?? null;
    };
    setStart(startOf(list.current, scroller.current));
    place.settle();
  });
  const isNearStart = first !== undefined && first.index < NEAR_START;
  useEffect(() => {
    if (!isNearStart || !place.isGoingUp) return;
    place.isGoingUp = false;
    onNearStart();
  });

  return (
    <OpenFolds value={folds}>
      <ol
        ref={list}
        aria-label="Messages"
        style={{
          paddingTop: first ? first.start - start : 0,
          paddingBottom: last ? virtualizer.getTotalSize() + start - last.end : 0,
        }}
      >
        {items.map(({ index, key }) => {
          const message = messages[index];
          return (
            message && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                data-place={message.id}
                aria-setsize={messages.length}
                aria-posinset={index + 1}
                tabIndex={-1}
                className="scroll-mt-14 pb-4 outline-offset-4"
              >
                <Message message={message} />
              </li>
            )
          );
        })}
      </ol>
    </OpenFolds>
  );
}

/** Where the list starts within the scroller's content. */
function startOf(list: HTMLElement | null, scroller: HTMLElement | null): number {
  if (!list || !scroller) return 0;
  return Math.round(list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop);
}
