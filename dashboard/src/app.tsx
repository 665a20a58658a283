/**
 * The whole page: the bar, the state of the connection, and the view for the current address. Each view has its own
 * error boundary, so that a broken one does not take the navigation with it.
 */
import { lazy, type RefObject, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApprovalsBanner } from "./approvals/approvals-banner.tsx";
import { BatchPage } from "./batch/batch-page.tsx";
import { NeedsYou } from "./inbox/needs-you.tsx";
import { ListPage } from "./list/list-page.tsx";
import type { TaskPages } from "./list/task-pages.ts";
import type { LiveFeed } from "./live/live-feed.ts";
import { Palette } from "./palette/palette.tsx";
import { usePaletteKey } from "./palette/use-palette-key.ts";
import { ErrorBoundary } from "./parts/error-boundary.tsx";
import { Link } from "./routing/link.tsx";
import { navigate, navigateToList, useRoute } from "./routing/location.ts";
import { boardPath, type Route } from "./routing/route.ts";
import { useAttemptIfLoaded, useItemIfKnown } from "./server/board-queries.ts";
import { useInbox, useStats, useTaskIfKnown } from "./server/queries.ts";
import { useMay } from "./session/session.ts";
import { ConnectionBanner } from "./shell/connection-banner.tsx";
import { RequestAnnouncer } from "./shell/request-announcer.tsx";
import { useShortcuts } from "./shell/shortcuts.ts";
import { ShortcutsDialog } from "./shell/shortcuts-dialog.tsx";
import { TopBar } from "./shell/top-bar.tsx";
import { TroubleBanner } from "./shell/trouble-banner.tsx";
import { StatsPage } from "./stats/stats-page.tsx";
import { TaskPage } from "./task/task-page.tsx";
import { visibleText } from "./wording/hidden-characters.ts";

const BoardPage = lazy(async () => ({ default: (await import("./board/board-page.tsx")).BoardPage }));
const ItemPage = lazy(async () => ({ default: (await import("./item/item-page.tsx")).ItemPage }));
const AttemptPage = lazy(async () => ({ default: (await import("./attempt/attempt-page.tsx")).AttemptPage }));
const LaunchDialog = lazy(async () => ({ default: (await import("./launch/launch-dialog.tsx")).LaunchDialog }));

/** These scroll inside. */
const STANDS_STILL = new Set<Route["view"]>(["list", "board"]);

interface AppProps {
  feed: LiveFeed;
  allTasks: TaskPages;
}

export function App({ feed, allTasks }: AppProps) {
  const route = useRoute();
  const connection = useSyncExternalStore(feed.subscribeConnection, feed.connection);
  const [dialog, setDialog] = useState<"launch" | "shortcuts" | "palette" | null>(null);
  const scroller = useRef<HTMLElement>(null);
  const mayLaunch = useMay("launch");
  const openLaunch = () => mayLaunch && setDialog("launch");
  const openShortcuts = () => setDialog("shortcuts");
  const openPalette = () => setDialog("palette");
  const close = () => setDialog(null);
  // What was chosen in it may have opened another dialog.
  const closePalette = () => setDialog((open) => (open === "palette" ? null : open));
  usePaletteKey(openPalette);
  useShortcuts({
    n: openLaunch,
    "?": openShortcuts,
    ...(route.view !== "list" && { Escape: () => leave(route) }),
  });
  useTitle(route);
  return (
    <div className="flex h-full flex-col">
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 font-medium text-on-accent focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <TopBar
        route={route}
        connection={connection}
        onLaunch={openLaunch}
        onShortcuts={openShortcuts}
        onPalette={openPalette}
      />
      <ConnectionBanner connection={connection} />
      <NeedsYou startsOpen={route.view === "list"} />
      <ApprovalsBanner />
      <TroubleBanner />
      <main
        ref={scroller}
        id="content"
        tabIndex={-1}
        className={`flex min-h-0 flex-1 flex-col focus-visible:outline-offset-[-2px] ${STANDS_STILL.has(route.view) ? "overflow-hidden" : "overflow-y-auto [overflow-anchor:none]"}`}
      >
        <ErrorBoundary title="This view could not be shown" resetKey={JSON.stringify(route)}>
          <Suspense fallback={null}>
            <View route={route} feed={feed} allTasks={allTasks} scroller={scroller} onLaunch={openLaunch} />
          </Suspense>
        </ErrorBoundary>
      </main>
      <RequestAnnouncer feed={feed} />
      {dialog === "launch" && (
        <Suspense fallback={null}>
          <LaunchDialog onClose={close} />
        </Suspense>
      )}
      {dialog === "shortcuts" && <ShortcutsDialog onClose={close} />}
      {dialog === "palette" && (
        <Palette onClose={closePalette} onLaunch={mayLaunch ? openLaunch : null} onShortcuts={openShortcuts} />
      )}
    </div>
  );
}

/** One step up, towards the list or the board. */
function leave({ view }: Route): void {
  if (view === "item" || view === "attempt") navigate(boardPath());
  else navigateToList();
}

interface ViewProps extends AppProps {
  route: Route;
  scroller: RefObject<HTMLElement | null>;
  onLaunch: () => void;
}

function View({ route, feed, allTasks, scroller, onLaunch }: ViewProps) {
  switch (route.view) {
    case "list":
      return <ListPage filters={route.filters} feed={feed} allTasks={allTasks} onLaunch={onLaunch} />;
    case "task":
      return <TaskPage id={route.id} scroller={scroller} />;
    case "batch":
      return <BatchPage id={route.id} />;
    case "stats":
      return <StatsPage />;
    case "board":
      return <BoardPage projectId={route.projectId} />;
    case "item":
      return <ItemPage id={route.id} scroller={scroller} />;
    case "attempt":
      return <AttemptPage id={route.id} tab={route.tab} scroller={scroller} />;
    case "unknown":
      return (
        <div className="p-6 text-muted">
          <h1 className="mb-1 text-[15px] font-semibold text-ink">There is nothing at this address</h1>
          <Link href="/" className="text-accent underline underline-offset-2">
            All tasks
          </Link>
        </div>
      );
  }
}

const TITLES: Record<Route["view"], string> = {
  list: "Tasks",
  task: "Task",
  batch: "Batch",
  stats: "Stats",
  board: "Board",
  item: "Work item",
  attempt: "Attempt",
  unknown: "Not found",
};

/**
 * What needs a person comes first, where even a narrow tab shows it, or else the number of active tasks; then what the
 * page is about.
 */
function useTitle(route: Route): void {
  const needs = useInbox().data?.total ?? 0;
  const active = useStats().data?.activeTasks ?? 0;
  const name = useSubject(route) ?? TITLES[route.view];
  useEffect(() => {
    const badge = needs > 0 ? `(!${needs}) ` : active > 0 ? `(${active}) ` : "";
    document.title = `${badge}${visibleText(name)} · asyncagents`;
  }, [needs, active, name]);
}

/** What the view shows, once it is loaded; null if it is not a single thing. */
function useSubject(route: Route): string | null {
  const task = useTaskIfKnown(route.view === "task" ? route.id : null).data;
  const item = useItemIfKnown(route.view === "item" ? route.id : null).data;
  const attempt = useAttemptIfLoaded(route.view === "attempt" ? route.id : "").data;
  if (route.view === "task") return task?.description || null;
  if (route.view === "item") return item?.title ?? null;
  return route.view === "attempt" && attempt ? `Attempt ${attempt.workspace_branch}` : null;
}
