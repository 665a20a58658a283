/**
 * What the server said beside doing something to an attempt, such as that hooks were not run: kept for this page until somebody has read it.
 */
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { queryKeys } from "../server/query-keys.ts";

export function addWarnings(queries: QueryClient, attemptId: string, warnings: readonly string[] = []): void {
  if (warnings.length === 0) return;
  queries.setQueryData<string[]>(queryKeys.warnings(attemptId), (known = []) => [...new Set([...known, ...warnings])]);
}

/** The warnings, and the way to forget them. */
export function useWarnings(attemptId: string): [warnings: readonly string[], forget: () => void] {
  const queries = useQueryClient();
  const queryKey = queryKeys.warnings(attemptId);
  // Nobody can be asked for them again.
  const { data = [] } = useQuery<string[]>({
    queryKey,
    queryFn: () => [],
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [data, () => queries.setQueryData<string[]>(queryKey, [])];
}
