/**
 * Refetches the visible parts of the board when the board changes, and at a task's turning points: it started, asks
 * something, was answered, ended. A fresh snapshot means that something may have been missed. While a card is being
 * moved nothing is fetched, or it would jump back; the move refetches everything afterwards.
 */
import type { QueryClient } from "@tanstack/react-query";
import { mutationKeys, queryKeys } from "../server/query-keys.ts";
import type { FeedListener } from "./live-feed.ts";
import { pacer } from "./pacer.ts";
import { TurningPoints } from "./turning-points.ts";

const PACE_MS = 300;

export function boardUpdates(queries: QueryClient): FeedListener {
  const refresh = pacer(PACE_MS, () => {
    const isMoving = queries.isMutating({ mutationKey: mutationKeys.move }) > 0;
    return isMoving ? undefined : queries.invalidateQueries({ queryKey: queryKeys.board });
  });
  const turningPoints = new TurningPoints(({ status, run, phase }) => `${status} ${run.number} ${phase === "waiting"}`);
  return {
    onSnapshot({ tasks }) {
      turningPoints.begin(tasks);
      refresh();
    },
    onChange(type, task) {
      if (turningPoints.hasTurned(task) || type !== "task.updated") refresh();
    },
    onBoard: refresh,
  };
}
