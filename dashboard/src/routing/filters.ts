/**
 * The filters and the order of the list, and their form in the address bar and in a query. What an address has that is
 * not understood is ignored. Fetches nothing; the list's pages do.
 */
import { TASK_SORTS, type TaskSort } from "../../../src/model/task.ts";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { isTaskStatus } from "../wording/statuses.ts";

const HOUR_MS = 3_600_000;
/** Periods that end now. */
export const PERIODS = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS } as const;
export type Period = keyof typeof PERIODS;

export interface Filters {
  statuses: readonly BackgroundTaskStatus[];
  agent: string;
  search: string;
  host: string;
  /** This folder and everything below it. */
  directory: string;
  /** Tasks that started in it; otherwise from and to count. */
  period: Period | "";
  /** ISO 8601, or empty. */
  from: string;
  to: string;
  sort: TaskSort;
  isAscending: boolean;
}

export const NO_FILTERS: Filters = {
  statuses: [],
  agent: "",
  search: "",
  host: "",
  directory: "",
  period: "",
  from: "",
  to: "",
  sort: "started",
  isAscending: false,
};

export function filtersOf(search: string): Filters {
  const given = new URLSearchParams(search);
  const text = (name: string) => given.get(name) ?? "";
  return {
    statuses: [...new Set(text("status").split(",").filter(isTaskStatus))],
    agent: text("agent"),
    search: text("search"),
    host: text("host"),
    directory: text("directory").startsWith("/") ? text("directory") : "",
    period: (Object.keys(PERIODS) as Period[]).find((period) => period === text("since")) ?? "",
    from: timeOf(text("from")),
    to: timeOf(text("to")),
    sort: TASK_SORTS.find((sort) => sort === text("sort")) ?? "started",
    isAscending: text("order") === "asc",
  };
}

function timeOf(text: string): string {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

export function listPath(filters: Filters): string {
  const { statuses, period, sort, isAscending } = filters;
  const given = [
    ["status", statuses.join(",")],
    ["agent", encodeURIComponent(filters.agent)],
    ["host", encodeURIComponent(filters.host)],
    ["directory", encodeURIComponent(filters.directory).replaceAll("%2F", "/")],
    ["since", period],
    ["from", period === "" ? filters.from : ""],
    ["to", period === "" ? filters.to : ""],
    ["search", encodeURIComponent(filters.search)],
    ["sort", sort === "started" ? "" : sort],
    ["order", isAscending ? "asc" : ""],
  ];
  const parts = given.filter(([, value]) => value !== "").map(([name, value]) => `${name}=${value}`);
  return parts.length === 0 ? "/" : `/?${parts.join("&")}`;
}

/** How many filters are set, besides statuses, agent and search, which are always shown. */
export function hiddenFilters({ host, directory, period, from, to }: Filters): number {
  return [host, directory, period === "" ? from || to : ""].filter((value) => value !== "").length;
}

export function isFiltered(filters: Filters): boolean {
  const { statuses, agent, search, period } = filters;
  return statuses.length > 0 || agent !== "" || search !== "" || period !== "" || hiddenFilters(filters) > 0;
}

/** Whether it is the list of all tasks, newest first, which follows the stream without asking. */
export function isWholeList(filters: Filters): boolean {
  return !isFiltered(filters) && filters.sort === "started" && !filters.isAscending;
}

/** Without filters, in the same order. */
export function unfiltered({ sort, isAscending }: Filters): Filters {
  return { ...NO_FILTERS, sort, isAscending };
}

/** The fields of a query to the server; what is not filtered is left out. */
export function filterQuery(filters: Filters, now: number) {
  const { statuses, agent, search, host, directory, sort, isAscending } = filters;
  const { from, to } = boundsOf(filters, now);
  return {
    ...(statuses.length > 0 && { status: statuses }),
    ...(agent && { agent }),
    ...(host && { host }),
    ...(directory && { directory }),
    ...(from && { from }),
    ...(to && { to }),
    ...(search && { search }),
    ...(sort !== "started" && { sort }),
    ...(isAscending && { order: "asc" as const }),
  };
}

/** When a task must have started; a period is counted back from now. */
export function boundsOf({ period, from, to }: Filters, now: number): { from: string; to: string } {
  if (period === "") return { from, to };
  return { from: new Date(now - PERIODS[period]).toISOString(), to: "" };
}
