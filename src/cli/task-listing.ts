/**
 * The tasks in a list: live ones first, then the newest. What the server cannot filter by (host, folder, time) is
 * filtered here, page by page, until there are enough. Read-only and bounded.
 */
import type { Client } from "../client/client.ts";
import { isLive, STATUSES } from "../model/task.ts";
import type { BackgroundTask, BackgroundTaskStatus } from "../protocol/tasks.ts";

const PAGE = 200;
/** The upper limit, no matter how many are requested. */
export const MAX_LISTED = 10_000;

interface ListFilter {
  status: readonly BackgroundTaskStatus[] | undefined;
  agent: string | undefined;
  search: string | undefined;
  host: string | undefined;
  /** This folder and everything below it. */
  directory: string | undefined;
  /** Only tasks that started after this time, in ms since 1970. */
  since: number | undefined;
}

export interface Listing {
  tasks: BackgroundTask[];
  /** The total number; null if it was not quantity. */
  total: number | null;
}

export async function fetchListing(client: Client, filter: ListFilter, limit: number): Promise<Listing> {
  const statuses = filter.status ?? STATUSES;
  const [live, ended] = [statuses.filter((each) => isLive(each)), statuses.filter((each) => !isLive(each))];
  const first = await readTasks(client, { ...filter, status: live }, limit);
  const rest = await readTasks(client, { ...filter, status: ended }, limit - first.tasks.length);
  const total = first.total === null || rest.total === null ? null : first.total + rest.total;
  return { tasks: [...first.tasks, ...rest.tasks], total };
}

async function readTasks(client: Client, filter: ListFilter, limit: number): Promise<Listing> {
  const { status = [], agent, search, host, directory, since } = filter;
  if (status.length === 0) return { tasks: [], total: 0 };
  const query = {
    status,
    ...(agent === undefined ? {} : { agent }),
    ...(search === undefined ? {} : { search }),
  };
  const isCounted = host === undefined && directory === undefined && since === undefined;
  const found: BackgroundTask[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.tasks({ ...query, limit: isCounted ? Math.min(PAGE, Math.max(1, limit)) : PAGE, offset });
    found.push(...page.tasks.filter((task) => isWanted(task, filter)));
    const isPast = since !== undefined && page.tasks.some((task) => Date.parse(task.startedAt) < since);
    if (found.length >= limit || page.tasks.length < PAGE || isPast) {
      return { tasks: found.slice(0, Math.max(0, limit)), total: isCounted ? page.total : null };
    }
  }
}

function isWanted(task: BackgroundTask, { host, directory, since }: ListFilter): boolean {
  if (host !== undefined && task.host !== host) return false;
  if (directory !== undefined && task.directory !== directory && !task.directory.startsWith(`${directory}/`))
    return false;
  return since === undefined || Date.parse(task.startedAt) >= since;
}
