/**
 * The pages for the filters in the address bar: the unfiltered list, which always follows the stream, or a filtered
 * one, which follows it while it is shown. The newest filtered list is kept for going back.
 */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { LiveFeed } from "../live/live-feed.ts";
import { type Filters, isWholeList, listPath } from "../routing/filters.ts";
import { readingClient } from "../server/page-client.ts";
import { TaskPages } from "./task-pages.ts";

let newestFiltered: { path: string; pages: TaskPages } | undefined;

function filteredPages(filters: Filters): TaskPages {
  const path = listPath(filters);
  if (newestFiltered?.path !== path) newestFiltered = { path, pages: new TaskPages(filters, readingClient) };
  return newestFiltered.pages;
}

export function useTaskPages(filters: Filters, allTasks: TaskPages, feed: LiveFeed): TaskPages {
  const pages = useMemo(() => (isWholeList(filters) ? allTasks : filteredPages(filters)), [filters, allTasks]);
  useEffect(() => {
    if (pages === allTasks) return;
    if (pages.total !== null) pages.refresh();
    return feed.listen(pages);
  }, [pages, allTasks, feed]);
  useSyncExternalStore(pages.subscribe, pages.version);
  return pages;
}
