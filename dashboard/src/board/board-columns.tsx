/**
 * The columns side by side, and moves between them: by drag and drop, by a card's menu, or with Shift and an arrow
 * key, in which case the card keeps the keyboard focus.
 */
import { useCallback, useRef, useState } from "react";
import { FailureNote } from "../parts/failure-note.tsx";
import type { ItemRow, ItemStatus } from "../server/operate.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { ITEM_STATUSES, itemStatusLabel } from "../wording/item-statuses.ts";
import { BoardColumn } from "./board-column.tsx";
import { useMove } from "./use-move.ts";

export function BoardColumns({ projectId, filter }: { projectId: string; filter: string }) {
  const { mutate, error, isError } = useMove(projectId);
  const [told, setTold] = useState("");
  /** The card moved by keys, which gets the focus when it is rendered in its new place. */
  const wantsFocus = useRef<string | null>(null);
  const move = useCallback(
    (item: ItemRow, to: ItemStatus, byKeys: boolean) => {
      if (item.status === to) return;
      wantsFocus.current = byKeys ? item.id : null;
      setTold(`Moved to ${itemStatusLabel(to)}: ${visibleText(item.title)}`);
      mutate({ item, to });
    },
    [mutate],
  );
  return (
    <>
      {isError && (
        <div className="px-3 pb-3 sm:px-5">
          <FailureNote title="The work item was not moved" failure={error} />
        </div>
      )}
      <p aria-live="polite" className="sr-only">
        {told}
      </p>
      <div className="live-data flex min-h-0 flex-1 snap-x snap-mandatory gap-3 overflow-x-auto px-3 pb-3 sm:snap-none sm:px-5 sm:pb-5">
        {ITEM_STATUSES.map((status) => (
          <BoardColumn
            key={status}
            projectId={projectId}
            status={status}
            filter={filter}
            wantsFocus={wantsFocus}
            onMove={move}
          />
        ))}
      </div>
    </>
  );
}
