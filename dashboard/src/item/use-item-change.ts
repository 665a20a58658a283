/**
 * Changes a work item and immediately shows the server's answer, here and on the board.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Item, type ItemStatus, operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export interface ItemChange {
  title?: string;
  description?: string;
  status?: ItemStatus;
}

export function useItemChange(item: Item) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: ItemChange) => operate("update_task", { task_id: item.id, ...change }),
    onSuccess: ({ task }) => {
      queries.setQueryData(queryKeys.item(item.id), task);
      // The answer may be older than what was reported meanwhile.
      void queries.invalidateQueries({ queryKey: [...queryKeys.item(item.id)] });
      void queries.invalidateQueries({ queryKey: [...queryKeys.itemsOf(item.project_id)] });
    },
  });
}
