/**
 * The queries of the board's views, as hooks. `live/board-updates.ts` refetches them when the board changes; only an
 * agent's changes in its worktree have no event and are polled while it works.
 */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { isAtWork } from "../wording/attempts.ts";
import { type Attempt, type ItemStatus, operate } from "./operate.ts";
import { queryKeys } from "./query-keys.ts";

const DIFF_POLL_MS = 10_000;
const LIVE_POLL_MS = 3000;
const FIRST_ITEMS = 50;
const MORE_ITEMS = 200;
/** A column loads no further: with more items people find them by other means. */
export const MAX_ITEM_PAGES = 10;
const MAX_PAGES = 10;

const kept = { refetchOnWindowFocus: true };

export function useProjects() {
  return useQuery({
    queryKey: queryKeys.projects,
    queryFn: ({ signal }) =>
      everyPage(async (cursor) => {
        const { projects, next_cursor } = await operate("list_projects", { limit: 200, ...cursor }, { signal });
        return { rows: projects, next: next_cursor };
      }),
    ...kept,
  });
}

/** Requests that wait for a person's decision, newest first; empty without a daemon. */
export function useApprovals() {
  return useQuery({
    queryKey: queryKeys.approvals,
    queryFn: async ({ signal }) => (await operate("list_approvals", { state: "requested" }, { signal })).approvals,
    retry: false,
    ...kept,
  });
}

export function useRepos(projectId: string) {
  return useQuery({
    queryKey: queryKeys.repos(projectId),
    queryFn: ({ signal }) =>
      everyPage(async (cursor) => {
        const input = { project_id: projectId, limit: 200, ...cursor };
        const { repos, next_cursor } = await operate("list_repos", input, { signal });
        return { rows: repos, next: next_cursor };
      }),
    refetchOnWindowFocus: true,
  });
}

export function useItems(projectId: string, status: ItemStatus) {
  return useInfiniteQuery({
    queryKey: queryKeys.items(projectId, status),
    queryFn: ({ pageParam, signal }) => {
      const page = pageParam === null ? { limit: FIRST_ITEMS } : { limit: MORE_ITEMS, cursor: pageParam };
      return operate("list_tasks", { project_id: projectId, status, ...page }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last, pages) => (pages.length < MAX_ITEM_PAGES ? last.next_cursor : null),
    ...kept,
  });
}

/** All items with the words in their title or description; without words nothing is fetched. */
export function useFoundItems(projectId: string, status: ItemStatus, search: string) {
  return useQuery({
    queryKey: queryKeys.foundItems(projectId, status, search),
    queryFn: ({ signal }) =>
      operate("list_tasks", { project_id: projectId, status, search, limit: MORE_ITEMS }, { signal }),
    enabled: search !== "",
    placeholderData: (previous) => previous,
    ...kept,
  });
}

export function useItem(id: string) {
  return useQuery({
    queryKey: queryKeys.item(id),
    queryFn: async ({ signal }) => (await operate("get_task", { task_id: id }, { signal })).task,
    ...kept,
  });
}

/** A work item that another view loads. */
export function useItemIfKnown(id: string | null) {
  return useQuery({
    queryKey: queryKeys.item(id ?? ""),
    queryFn: async ({ signal }) => (await operate("get_task", { task_id: id ?? "" }, { signal })).task,
    enabled: id !== null,
  });
}

/** An attempt, only once a view has loaded it. */
export function useAttemptIfLoaded(id: string) {
  return useQuery<Attempt>({ queryKey: queryKeys.attempt(id), enabled: false });
}

export function useAttempts(itemId: string) {
  return useInfiniteQuery({
    queryKey: queryKeys.attempts(itemId),
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return operate("list_task_attempts", { task_id: itemId, limit: 10, ...cursor }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last, pages) => (pages.length < MAX_ITEM_PAGES ? last.next_cursor : null),
    ...kept,
  });
}

/** In a list it is not polled: each answer makes git count lines. */
export function useAttempt(id: string, { isListed = false } = {}) {
  return useQuery({
    queryKey: queryKeys.attempt(id),
    queryFn: ({ signal }) => operate("get_attempt", { attempt_id: id }, { signal }),
    refetchOnWindowFocus: !isListed,
    refetchInterval: ({ state }) => !isListed && isAtWork(state.data?.state) && LIVE_POLL_MS,
  });
}

/** The engine's task behind an attempt, which has its conversation and events; null until it is started. */
export function useHandle(attemptId: string, sessionId: string | null) {
  const { data } = useQuery({
    queryKey: queryKeys.handle(attemptId, sessionId ?? ""),
    queryFn: ({ signal }) => operate("attempt_task", { attempt_id: attemptId }, { signal }),
    staleTime: ({ state }) => (state.data?.handle ? Number.POSITIVE_INFINITY : 0),
  });
  return data?.handle ?? null;
}

/** Refetched whenever their number changes. */
export function useFollowUps({ attempt_id, queued_count }: Attempt) {
  return useQuery({
    queryKey: queryKeys.followUps(attempt_id, queued_count),
    queryFn: ({ signal }) => operate("list_follow_ups", { attempt_id }, { signal }),
    placeholderData: (previous) => previous,
  });
}

/** How much of a diff is fetched at first, and the most that the server returns. */
export const DIFF_BYTES = { first: 300_000, most: 1_000_000 } as const;

/** The diff as far as this page has shown it. */
export function useSeenDiff(attempt: Attempt) {
  const most = useQueryClient().getQueryData([...queryKeys.diff(attempt.attempt_id), DIFF_BYTES.most]);
  return useDiff(attempt, most === undefined ? DIFF_BYTES.first : DIFF_BYTES.most);
}

export function useDiff(attempt: Attempt, maxBytes: number) {
  return useQuery({
    queryKey: [...queryKeys.diff(attempt.attempt_id), maxBytes],
    queryFn: ({ signal }) =>
      operate("get_attempt_diff", { attempt_id: attempt.attempt_id, max_bytes: maxBytes }, { signal }),
    refetchInterval: isAtWork(attempt.state) && DIFF_POLL_MS,
    placeholderData: (previous) => previous,
  });
}

export function useExecutors() {
  return useQuery({
    queryKey: queryKeys.executors,
    queryFn: ({ signal }) => operate("list_executors", {}, { signal }),
    staleTime: 60_000,
  });
}

async function everyPage<Row>(
  read: (cursor: { cursor?: string }) => Promise<{ rows: Row[]; next: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: { cursor?: string } = {};
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await read(cursor);
    rows.push(...page.rows);
    if (page.next === null) break;
    cursor = { cursor: page.next };
  }
  return rows;
}
