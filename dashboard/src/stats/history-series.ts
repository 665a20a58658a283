/**
 * The history as plot data: every step of the range, including empty ones, with the statuses stacked. Pure.
 */
import type { StatsHistory } from "../../../src/protocol/statistics.ts";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { axisText } from "../wording/durations.ts";

/** From the bottom of a stack to its top. */
export const STACK: readonly BackgroundTaskStatus[] = ["completed", "resumed", "running", "cancelled", "error"];

export interface StartedSeries {
  /** Seconds since the epoch. */
  times: number[];
  counts: Record<BackgroundTaskStatus, number[]>;
  total: number;
}

export function startedSeries(history: StatsHistory): StartedSeries {
  const from = Date.parse(history.from);
  const steps = Math.max(1, Math.ceil((Date.parse(history.to) - from) / Math.max(1, history.bucketMs)));
  const zeros = () => new Array<number>(steps).fill(0);
  const counts = { completed: zeros(), resumed: zeros(), running: zeros(), cancelled: zeros(), error: zeros() };
  let total = 0;
  for (const { at, byStatus } of history.buckets) {
    const step = Math.min(steps - 1, Math.max(0, Math.round((Date.parse(at) - from) / history.bucketMs)));
    for (const status of STACK) {
      const count = byStatus[status] ?? 0;
      counts[status][step] = (counts[status][step] ?? 0) + count;
      total += count;
    }
  }
  const times = zeros().map((_, step) => (from + step * history.bucketMs) / 1000);
  return { times, counts, total };
}

/** One series of running sums per status, the whole stack first: the plot draws each over the one before. */
export function stacked(series: StartedSeries): number[][] {
  let below = series.times.map(() => 0);
  const sums = STACK.map((status) => {
    below = below.map((sum, step) => sum + (series.counts[status][step] ?? 0));
    return below;
  });
  return sums.reverse();
}

export function durationLabels(history: StatsHistory): string[] {
  return history.durations.map(({ below }, index) => {
    const previous = history.durations[index - 1]?.below ?? 0;
    return below === null ? `> ${axisText(previous)}` : `< ${axisText(below)}`;
  });
}
