/**
 * A task's live conversation: the stream says when to refetch the newest page, the reader which earlier pages are
 * needed. The server only pages backwards, so what is loaded has no gaps.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { LogPage } from "../../../src/client/client.ts";
import type { LogMessage } from "../../../src/protocol/conversations.ts";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { reaches, withEarlier, withNewest } from "./conversation-pages.ts";

const PAGE_LIMIT = 100;
/** For jumps: the most that the server returns at once. */
const JUMP_LIMIT = 200;
/** There is no event for an answer that is being written. */
const LIVE_POLL_MS = 5000;

export type Conversation = ReturnType<typeof useConversation>;

export function useConversation(id: string, isTaskLive: boolean) {
  const queries = useQueryClient();
  const queryKey = queryKeys.logs(id);
  const newest = useQuery({
    queryKey,
    queryFn: ({ signal }) => readNewest(id, queries.getQueryData<LogPage>(queryKey), signal),
    refetchInterval: isTaskLive && LIVE_POLL_MS,
  });
  const keep = async (earlier: LogPage): Promise<LogPage> => {
    // A refetch in flight would overwrite the list without the pages just loaded.
    await queries.cancelQueries({ queryKey: [...queryKey] });
    const known = queries.getQueryData<LogPage>(queryKey);
    const all = known ? withEarlier(known, earlier) : earlier;
    queries.setQueryData<LogPage>(queryKey, all);
    return all;
  };
  /** Loads until it has what is wanted, or the first message. */
  const earlier = useMutation({
    mutationFn: async (isEnough: (messages: readonly LogMessage[]) => boolean) => {
      let all = queries.getQueryData<LogPage>(queryKey);
      for (let pages = 0; all && all.before !== null && (pages === 0 || !isEnough(all.messages)); pages++) {
        const limit = pages === 0 ? PAGE_LIMIT : JUMP_LIMIT;
        all = await keep(await readingClient.logs(id, { limit, before: all.before }));
      }
      return all?.messages ?? [];
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [...queryKey] }),
  });
  const before = newest.data?.before ?? null;
  const loadPage = () => {
    if (before !== null && !earlier.isPending && !earlier.isError) earlier.mutate(() => true);
  };
  return { newest, messages: newest.data?.messages ?? NONE, hasEarlier: before !== null, earlier, loadPage };
}

const NONE: readonly LogMessage[] = [];

/** The newest page, and everything between it and the known messages: a gap would hide messages. */
async function readNewest(id: string, known: LogPage | undefined, signal: AbortSignal): Promise<LogPage> {
  let answer = await readingClient.logs(id, { limit: PAGE_LIMIT }, signal);
  while (known && known.messages.length > 0 && answer.before !== null && !reaches(answer, known)) {
    answer = withEarlier(answer, await readingClient.logs(id, { limit: JUMP_LIMIT, before: answer.before }, signal));
  }
  return withNewest(known, answer);
}
