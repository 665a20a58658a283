/**
 * How the list is sorted by each column, and in which words. Pure.
 */
import { TASK_SORTS, type TaskSort } from "../../../src/model/task.ts";
import type { Filters } from "../routing/filters.ts";

type Order = Pick<Filters, "sort" | "isAscending">;

/** The words for descending and ascending. */
const WORDS: Record<TaskSort, readonly [string, string]> = {
  started: ["Newest first", "Oldest first"],
  took: ["Longest first", "Shortest first"],
  cost: ["Most expensive first", "Cheapest first"],
  description: ["Name, Z to A", "Name, A to Z"],
  status: ["Running first", "Cancelled first"],
};

/** All orders, for a list of choices; the usual direction of each comes first. */
export const ORDERS = TASK_SORTS.flatMap((sort) => {
  const directions = sort === "description" ? [true, false] : [false, true];
  return directions.map((isAscending) => ({
    name: `${sort} ${isAscending ? "asc" : "desc"}`,
    label: WORDS[sort][isAscending ? 1 : 0],
    order: { sort, isAscending },
  }));
});

/** What a click on a column does: its usual direction first, then the other one. */
export function sortedBy(now: Order, sort: TaskSort): Order {
  if (now.sort === sort) return { sort, isAscending: !now.isAscending };
  return { sort, isAscending: sort === "description" };
}

export function orderName({ sort, isAscending }: Order): string {
  return `${sort} ${isAscending ? "asc" : "desc"}`;
}
