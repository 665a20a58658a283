/**
 * One work item: what is to be done, its status, and the attempts at it.
 */

import { type RefObject, useEffect } from "react";
import { NotLoaded } from "../board/not-loaded.tsx";
import { ChangeList } from "../parts/change-list.tsx";
import { Ago } from "../parts/times.tsx";
import { useItem } from "../server/board-queries.ts";
import type { Item } from "../server/operate.ts";
import { Allowed } from "../session/allowed.tsx";
import { AttemptList } from "./attempt-list.tsx";
import { DeleteItem } from "./delete-item.tsx";
import { ItemText } from "./item-text.tsx";
import { StartAttempt } from "./start-attempt.tsx";
import { StatusChoice } from "./status-choice.tsx";

export function ItemPage({ id, scroller }: { id: string; scroller: RefObject<HTMLElement | null> }) {
  const query = useItem(id);
  const { data: item } = query;
  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
  }, [scroller, id]);
  if (item) return <LoadedItem key={id} item={item} />;
  return <NotLoaded what="work item" query={query} />;
}

function LoadedItem({ item }: { item: Item }) {
  return (
    <div data-item-id={item.id} className="mx-auto w-full max-w-7xl px-3 py-4 sm:px-5 sm:py-6">
      <div className="grid min-w-0 gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-6">
          <ItemText item={item} />
          <AttemptList item={item} />
        </div>
        <aside aria-label="Actions" className="flex min-w-0 flex-col gap-6">
          <div className="flex flex-col gap-3 sm:flex-row sm:items-end lg:flex-col lg:items-stretch">
            <StatusChoice item={item} />
            <p className="text-xs text-faint">
              created <Ago at={item.created_at} />, changed <Ago at={item.updated_at} />
            </p>
          </div>
          <Allowed to="start_task_attempt">
            <StartAttempt item={item} />
          </Allowed>
          <Allowed to="delete_task">
            <DeleteItem item={item} />
          </Allowed>
          <ChangeList subject={item.id} version={item.updated_at} />
        </aside>
      </div>
    </div>
  );
}
