/**
 * The tasks in a list: live ones first, then the newest, or all of them sorted by one column. Read-only and bounded.
 */
import type { Client, ListQuery } from "../client/client.ts";
import { isLive, PHASES, type Phase, STATUSES, type TaskSort } from "../model/task.ts";
import type { BackgroundTask, BackgroundTaskStatus } from "../protocol/tasks.ts";

const PAGE = 200;
/** The upper limit, no matter how many are requested. */
export const MAX_LISTED = 10_000;

interface ListFilter {
  /** Statuses, and what live tasks do (`queued`); a task with any of them is wanted. */
  states: readonly (BackgroundTaskStatus | Phase)[] | undefined;
  agent: string | undefined;
  search: string | undefined;
  host: string | undefined;
  /** This folder and everything below it. */
  directory: string | undefined;
  /** Only tasks that started then or later, in ms since 1970. */
  since: number | undefined;
  /** Only tasks that started before. */
  until: number | undefined;
  sort: TaskSort | undefined;
  order: "asc" | "desc" | undefined;
}

export interface Listing {
  tasks: BackgroundTask[];
  /** The total number; null if it is not known. */
  total: number | null;
}

export async function fetchListing(client: Client, filter: ListFilter, limit: number): Promise<Listing> {
  const statuses = STATUSES.filter((each) => isIn(filter, each) || (isLive(each) && hasPhases(filter)));
  if (filter.sort !== undefined) return readTasks(client, filter, statuses, limit);
  const [live, ended] = [statuses.filter((each) => isLive(each)), statuses.filter((each) => !isLive(each))];
  const first = await readTasks(client, filter, live, limit);
  const rest = await readTasks(client, filter, ended, limit - first.tasks.length);
  const total = first.total === null || rest.total === null ? null : first.total + rest.total;
  return { tasks: [...first.tasks, ...rest.tasks], total };
}

async function readTasks(
  client: Client,
  filter: ListFilter,
  status: readonly BackgroundTaskStatus[],
  limit: number,
): Promise<Listing> {
  if (status.length === 0) return { tasks: [], total: 0 };
  const { since, until, states: _, ...fields } = filter;
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const given = Object.entries({ ...fields, status, from: time(since), to: time(until) });
  const query: ListQuery = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const found: BackgroundTask[] = [];
  // The API filters by status only.
  let isFilteredThere = !hasPhases(filter);
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.tasks({
      ...query,
      limit: isFilteredThere ? pageSize(limit - found.length) : PAGE,
      offset,
    });
    const wanted = page.tasks.filter((task) => isWanted(task, filter));
    // An older daemon does not know all of these filters.
    isFilteredThere &&= wanted.length === page.tasks.length;
    found.push(...wanted);
    if (found.length >= limit || page.tasks.length < PAGE) {
      return { tasks: found.slice(0, Math.max(0, limit)), total: isFilteredThere ? page.total : null };
    }
  }
}

function pageSize(missing: number): number {
  return Math.min(PAGE, Math.max(1, missing));
}

function isIn({ states }: ListFilter, state: BackgroundTaskStatus | Phase | null): boolean {
  return states === undefined || states.some((each) => each === state);
}

function hasPhases({ states = [] }: ListFilter): boolean {
  return PHASES.some((phase) => states.includes(phase));
}

function isWanted(task: BackgroundTask, filter: ListFilter): boolean {
  const { host, directory, since = 0, until = Number.POSITIVE_INFINITY } = filter;
  if (!isIn(filter, task.status) && !isIn(filter, task.phase)) return false;
  if (host !== undefined && task.host !== host) return false;
  const folder = directory?.replace(/\/+$/, "");
  if (folder !== undefined && task.directory !== folder && !task.directory.startsWith(`${folder}/`)) return false;
  const started = Date.parse(task.startedAt);
  return started >= since && started < until;
}
