/**
 * Tasks for the palette: the newest ones, or those that match, found by the server. A few, however many are stored.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

const SHOWN = 8;
/** Long enough that not every letter is a request. */
const TYPING_MS = 120;

export interface FoundTasks {
  tasks: readonly BackgroundTask[];
  total: number;
  /** Whether what is shown is for an earlier text. */
  isLate: boolean;
}

export function useFoundTasks(text: string): FoundTasks {
  const [search, setSearch] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSearch(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data, isPlaceholderData } = useQuery({
    queryKey: queryKeys.foundTasks(search),
    queryFn: ({ signal }) => readingClient.tasks({ ...(search !== "" && { search }), limit: SHOWN }, signal),
    placeholderData: (previous) => previous,
  });
  return {
    tasks: data?.tasks ?? [],
    total: data?.total ?? 0,
    isLate: isPlaceholderData || search !== text.trim() || data === undefined,
  };
}
