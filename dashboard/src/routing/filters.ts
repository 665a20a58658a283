/**
 * The filters of the list, and their form in the address bar and in a query. Unknown statuses in an address are
 * ignored. Fetches nothing; the list's pages do.
 */
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { isTaskStatus } from "../wording/statuses.ts";

export interface Filters {
  statuses: readonly BackgroundTaskStatus[];
  agent: string;
  search: string;
}

export const NO_FILTERS: Filters = { statuses: [], agent: "", search: "" };

export function filtersOf(search: string): Filters {
  const given = new URLSearchParams(search);
  return {
    statuses: [...new Set((given.get("status") ?? "").split(",").filter(isTaskStatus))],
    agent: given.get("agent") ?? "",
    search: given.get("search") ?? "",
  };
}

export function listPath({ statuses, agent, search }: Filters): string {
  const parts = [
    ...(statuses.length > 0 ? [`status=${statuses.join(",")}`] : []),
    ...(agent ? [`agent=${encodeURIComponent(agent)}`] : []),
    ...(search ? [`search=${encodeURIComponent(search)}`] : []),
  ];
  return parts.length === 0 ? "/" : `/?${parts.join("&")}`;
}

export function isFiltered({ statuses, agent, search }: Filters): boolean {
  return statuses.length > 0 || agent !== "" || search !== "";
}

/** The fields of a query to the server; what is not filtered is left out. */
export function filterQuery({ statuses, agent, search }: Filters) {
  return {
    ...(statuses.length > 0 && { status: statuses }),
    ...(agent && { agent }),
    ...(search && { search }),
  };
}
