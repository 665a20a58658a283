/**
 * The queries of the views, as hooks: one for each answer of the server. The stream keeps them fresh; only what has
 * no event is polled.
 */
import { QueryClient, useQuery } from "@tanstack/react-query";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { isFinal } from "./failure.ts";
import { readingClient } from "./page-client.ts";
import { queryKeys } from "./query-keys.ts";

const CHILDREN_LIMIT = 100;
const FAILED_LIMIT = 20;
const RECENT_LIMIT = 30;
const INBOX_LIMIT = 100;
const TROUBLES_MS = 20_000;
const RUNNERS_MS = 5_000;
const BUDGETS_MS = 2_000;
const BUDGETS_IDLE_MS = 20_000;

export function pageQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2000,
        gcTime: 60_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        // A page that is open on this machine needs no network to reach its server.
        networkMode: "always",
        retry: (count, failure) => count < 1 && !isFinal(failure),
      },
      mutations: { networkMode: "always" },
    },
  });
}

export function useStats() {
  return useQuery({ queryKey: queryKeys.stats, queryFn: ({ signal }) => readingClient.stats(signal) });
}

/** What needs a person, oldest first. */
export function useInbox() {
  return useQuery({
    queryKey: queryKeys.inbox,
    queryFn: ({ signal }) => readingClient.inbox({ limit: INBOX_LIMIT }, signal),
    refetchOnWindowFocus: true,
  });
}

/** The budgets of a task, or one by its id. Other tasks use them, too, so they are read again while some are live. */
export function useBudgets(of: { task: string } | { id: string }) {
  return useQuery({
    queryKey: queryKeys.budgetsOf("task" in of ? `task ${of.task}` : of.id),
    queryFn: ({ signal }) => readingClient.budgets(of, signal),
    refetchInterval: ({ state }) => (state.data?.some(({ live }) => live > 0) ? BUDGETS_MS : BUDGETS_IDLE_MS),
  });
}

/** Why a task waits for a runner changes without an event, as runners come and go. */
export function useTask(id: string) {
  return useQuery({
    queryKey: queryKeys.task(id),
    queryFn: ({ signal }) => readingClient.task(id, signal),
    refetchInterval: ({ state }) => (state.data?.queue ? RUNNERS_MS : false),
  });
}

/** A task whose id is not known yet. */
export function useTaskIfKnown(id: string | null) {
  return useQuery({
    queryKey: queryKeys.task(id ?? ""),
    queryFn: ({ signal }) => readingClient.task(id ?? "", signal),
    enabled: id !== null,
  });
}

/** Refetched for each run and each end, whichever source reports it first. */
export function useRuns({ id, run, status }: BackgroundTask) {
  return useQuery({
    queryKey: queryKeys.runsAt(id, `${run.number} ${status}`),
    queryFn: ({ signal }) => readingClient.runs(id, signal),
    placeholderData: (previous) => previous,
  });
}

/** A batch shows many runs, each of them small. */
const BATCH_SPANS = 60;

/** What the runs of a task or a batch spent their time on. */
export function useSpans(of: { task: string } | { group: string }) {
  const input = "task" in of ? of : { ...of, most: BATCH_SPANS };
  return useQuery({
    queryKey: "task" in of ? queryKeys.taskSpans(of.task) : queryKeys.groupSpans(of.group),
    queryFn: ({ signal }) => readingClient.spans(input, signal),
  });
}

export function useGroup(id: string) {
  return useQuery({ queryKey: queryKeys.group(id), queryFn: ({ signal }) => readingClient.group(id, signal) });
}

/** None while the task waits for a runner: it has no session yet. */
export function useChildren(sessionId: string) {
  return useQuery({
    queryKey: queryKeys.children(sessionId),
    queryFn: ({ signal }) => readingClient.tasks({ parent: sessionId, limit: CHILDREN_LIMIT }, signal),
    enabled: sessionId !== "",
  });
}

/** For suggestions from recent use. */
export function useRecentTasks() {
  return useQuery({
    queryKey: queryKeys.recent,
    queryFn: ({ signal }) => readingClient.tasks({ limit: RECENT_LIMIT }, signal),
  });
}

/** No event reports a full disk, so it is checked now and then. */
export function useTroubles() {
  return useQuery({
    queryKey: queryKeys.troubles,
    queryFn: ({ signal }) => readingClient.troubles(signal),
    refetchInterval: TROUBLES_MS,
    refetchOnWindowFocus: true,
  });
}

/** Runners report no events. */
export function useRunners() {
  return useQuery({
    queryKey: queryKeys.runners,
    queryFn: ({ signal }) => readingClient.runners(signal),
    refetchInterval: RUNNERS_MS,
  });
}

/** Sending reports no events either. */
export function useFailedNotifications() {
  return useQuery({
    queryKey: queryKeys.failedNotifications,
    queryFn: ({ signal }) => readingClient.notifications({ state: "failed", limit: FAILED_LIMIT }, signal),
    refetchInterval: RUNNERS_MS,
  });
}

export function useInstances() {
  return useQuery({ queryKey: queryKeys.instances, queryFn: ({ signal }) => readingClient.instances(signal) });
}
