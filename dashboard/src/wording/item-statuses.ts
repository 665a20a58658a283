/**
 * The statuses of a work item, in the order of the board's columns, and their labels. The type check fails if this
 * and the server's statuses differ.
 */
import type { ItemStatus } from "../server/operate.ts";

const LABELS: Record<ItemStatus, string> = {
  todo: "To do",
  inprogress: "In progress",
  inreview: "In review",
  done: "Done",
  cancelled: "Cancelled",
};

export const ITEM_STATUSES = Object.keys(LABELS) as ItemStatus[];

export function itemStatusLabel(status: ItemStatus): string {
  return LABELS[status];
}

/** The column before or after; null at the edge. */
export function neighbourStatus(status: ItemStatus, step: 1 | -1): ItemStatus | null {
  return ITEM_STATUSES[ITEM_STATUSES.indexOf(status) + step] ?? null;
}
