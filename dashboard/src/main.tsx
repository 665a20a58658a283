/**
 * The page's entry point: connects the stream, the caches and the views. Nothing else starts anything.
 */
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { TaskPages } from "./list/task-pages.ts";
import { boardUpdates } from "./live/board-updates.ts";
import { LiveFeed } from "./live/live-feed.ts";
import { queryUpdates } from "./live/query-updates.ts";
import { NO_FILTERS } from "./routing/filters.ts";
import { readingClient } from "./server/page-client.ts";
import { pageQueries } from "./server/queries.ts";
import { Entrance } from "./session/entrance.tsx";
import { openSession } from "./session/session.ts";
import { notifications } from "./shell/notifications.ts";
import { followTheme } from "./shell/theme.ts";
import "./styles.css";

followTheme();

const queries = pageQueries();
const feed = new LiveFeed();
feed.listen(queryUpdates(queries));
feed.listen(boardUpdates(queries));
feed.listen(notifications);
const allTasks = new TaskPages(NO_FILTERS, readingClient);
feed.listen(allTasks);
void openSession();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Entrance feed={feed} allTasks={allTasks} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
