/**
 * Fetches what is shown of the board again when a task turns: it began, asks something, was answered, ended. The board
 * follows a task's turn a moment later and has no event of its own, so it is looked at once more when all is quiet.
 */
import type { QueryClient } from "@tanstack/react-query";
import { queryKeys } from "../server/query-keys.ts";
import type { FeedListener } from "./live-feed.ts";
import { pacer } from "./pacer.ts";
import { Standings } from "./standings.ts";

const PACE_MS = 500;
const QUIET_MS = 1200;

export function boardUpdates(queries: QueryClient): FeedListener {
  const refresh = pacer(PACE_MS, () => queries.invalidateQueries({ queryKey: [...queryKeys.board] }));
  const standings = new Standings(({ status, run, phase }) => `${status} ${run.number} ${phase === "waiting"}`);
  let quiet: ReturnType<typeof setTimeout> | undefined;
  return {
    onSnapshot: ({ tasks }) => standings.begin(tasks),
    onChange(type, task) {
      if (!standings.hasTurned(task) && type === "task.updated") return;
      refresh();
      clearTimeout(quiet);
      quiet = setTimeout(refresh, QUIET_MS);
    },
  };
}
