/**
 * Moves a work item to another status: shown immediately, and undone if the server rejects it.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ItemRow, type ItemStatus, operate } from "../server/operate.ts";
import { mutationKeys, queryKeys } from "../server/query-keys.ts";
import { ITEM_STATUSES } from "../wording/item-statuses.ts";
import { type ItemPages, withItem, withoutItem } from "./item-pages.ts";

export interface Move {
  item: ItemRow;
  to: ItemStatus;
}

export function useMove(projectId: string) {
  const queries = useQueryClient();
  const column = (status: ItemStatus) => [...queryKeys.items(projectId, status)];
  const change = (status: ItemStatus, by: (pages: ItemPages) => ItemPages) =>
    queries.setQueryData<ItemPages>(column(status), (known) => known && by(known));
  /**
   * A column that is still loading has no place for a card, and would lose its own cards if the load were cancelled.
   */
  const loaded = async (status: ItemStatus) => {
    const query = queries.getQueryCache().find({ queryKey: column(status), exact: true });
    if (query?.state.data === undefined) await query?.promise?.catch(() => undefined);
  };
  return useMutation({
    mutationKey: mutationKeys.move,
    // One after the other, so that the last move wins.
    scope: { id: "move" },
    mutationFn: ({ item, to }: Move) => operate("update_task", { task_id: item.id, status: to }),
    onMutate: async ({ item, to }) => {
      await Promise.all(ITEM_STATUSES.map(loaded));
      // An answer in flight would put the card back.
      await queries.cancelQueries({ queryKey: [...queryKeys.itemsOf(projectId)] });
      change(item.status, (pages) => withoutItem(pages, item.id));
      change(to, (pages) => withItem(pages, { ...item, status: to }));
    },
    onError: (_failure, { item, to }) => {
      change(to, (pages) => withoutItem(pages, item.id));
      change(item.status, (pages) => withItem(pages, item));
    },
    onSettled: () => {
      // With another move in flight, an answer would put that card back for a moment.
      if (queries.isMutating({ mutationKey: mutationKeys.move }) > 1) return;
      // Not awaited: the move would count as in flight until then, and changes in the meantime would not be fetched.
      void queries.invalidateQueries({ queryKey: queryKeys.board });
    },
  });
}
