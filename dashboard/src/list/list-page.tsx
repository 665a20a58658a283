/**
 * The list of tasks: counts, filters, and the grid; or what to do if there are none.
 */
import { useEffect } from "react";
import type { LiveFeed } from "../live/live-feed.ts";
import { FailureNote } from "../parts/failure-note.tsx";
import { type Filters, isFiltered, listPath, unfiltered } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { EmptyList, NoMatch } from "./empty-lists.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { Summary } from "./summary.tsx";
import { TaskGrid } from "./task-grid.tsx";
import type { TaskPages } from "./task-pages.ts";
import { useTaskPages } from "./use-task-pages.ts";

interface ListPageProps {
  filters: Filters;
  feed: LiveFeed;
  allTasks: TaskPages;
  onLaunch: () => void;
}

export function ListPage({ filters, feed, allTasks, onLaunch }: ListPageProps) {
  const pages = useTaskPages(filters, allTasks, feed);
  const path = listPath(filters);
  useEffect(() => {
    if (pages.total === null) pages.show(0, 0);
  }, [pages]);
  const clear = () => navigate(listPath(unfiltered(filters)));
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <h1 className="sr-only">Tasks</h1>
      <Summary />
      <FilterBar filters={filters} matching={pages.total} />
      {pages.failure !== null && (
        <div className="px-3 pb-3 sm:px-5">
          <FailureNote title="The list could not be loaded" failure={pages.failure} onRetry={() => pages.retry()} />
        </div>
      )}
      {pages.total === 0 && (isFiltered(filters) ? <NoMatch onClear={clear} /> : <EmptyList onLaunch={onLaunch} />)}
      {pages.total === null && <p className="p-5 text-muted">Loading tasks…</p>}
      {pages.total !== 0 && <TaskGrid key={path} path={path} filters={filters} pages={pages} onClear={clear} />}
    </div>
  );
}
