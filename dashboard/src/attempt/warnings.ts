/**
 * The server's warnings about an action on an attempt, such as hooks that were not run: kept on this page until
 * someone has read them.
 */
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { queryKeys } from "../server/query-keys.ts";

export function addWarnings(queries: QueryClient, attemptId: string, warnings: readonly string[] = []): void {
  if (warnings.length === 0) return;
  queries.setQueryData<string[]>(queryKeys.warnings(attemptId), (known = []) => [...new Set([...known, ...warnings])]);
}

/** The warnings, and a function that dismisses them. */
export function useWarnings(attemptId: string): [warnings: readonly string[], forget: () => void] {
  const queries = useQueryClient();
  const queryKey = queryKeys.warnings(attemptId);
  // They cannot be requested again.
  const { data = [] } = useQuery<string[]>({
    queryKey,
    queryFn: () => [],
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [data, () => queries.setQueryData<string[]>(queryKey, [])];
}
