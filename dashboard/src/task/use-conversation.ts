/**
 * A task's conversation as it happens: the stream says when to ask for the newest page again, a person when to load what
 * came before.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { LogPage } from "../../../src/client/client.ts";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { withEarlier, withNewest } from "./conversation-pages.ts";

const PAGE_LIMIT = 100;
/** An answer that is being written is no event of its own. */
const LIVE_POLL_MS = 5000;

export function useConversation(id: string, isTaskLive: boolean) {
  const queries = useQueryClient();
  const queryKey = queryKeys.logs(id);
  const newest = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const answer = await readingClient.logs(id, { limit: PAGE_LIMIT }, signal);
      return withNewest(queries.getQueryData<LogPage>(queryKey), answer);
    },
    refetchInterval: isTaskLive && LIVE_POLL_MS,
  });
  const before = newest.data?.before ?? null;
  const earlier = useMutation({
    mutationFn: (cursor: string) => readingClient.logs(id, { limit: PAGE_LIMIT, before: cursor }),
    onSuccess: async (answer) => {
      // A refetch under way would put back the list without what was just loaded.
      await queries.cancelQueries({ queryKey: [...queryKey] });
      queries.setQueryData<LogPage>(queryKey, (known) => known && withEarlier(known, answer));
      await queries.invalidateQueries({ queryKey: [...queryKey] });
    },
  });
  const loadEarlier = () => {
    if (before !== null && !earlier.isPending) earlier.mutate(before);
  };
  return { newest, before, earlier, loadEarlier };
}
