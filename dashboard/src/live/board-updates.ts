/**
 * Refetches the visible parts of the board when the board changes, and at a task's turning points: it started, asks
 * something, was answered, ended. A fresh snapshot means that something may have been missed. While a card is being
 * moved nothing is fetched, or it would jump back; the move refetches everything afterwards.
 */
import type { QueryClient } from "@tanstack/react-query";
import { mutationKeys, queryKeys } from "../server/query-keys.ts";
import type { FeedListener } from "./live-feed.ts";
import { pacer } from "./pacer.ts";
import { Standings } from "./standings.ts";

const PACE_MS = 300;

export function boardUpdates(queries: QueryClient): FeedListener {
  const refresh = pacer(PACE_MS, () => {
    const isMoving = queries.isMutating({ mutationKey: mutationKeys.move }) > 0;
    return isMoving ? undefined : queries.invalidateQueries({ queryKey: queryKeys.board });
  });
  const standings = new Standings(({ status, run, phase }) => `${status} ${run.number} ${phase === "waiting"}`);
  return {
    onSnapshot({ tasks }) {
      standings.begin(tasks);
      refresh();
    },
    onChange(type, task) {
      if (standings.hasTurned(task) || type !== "task.updated") refresh();
    },
    onBoard: refresh,
  };
}
