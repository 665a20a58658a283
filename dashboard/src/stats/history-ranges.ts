/**
 * The time ranges of the stats, each with a readable number of steps. Pure.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const RANGES = [
  { name: "1h", label: "1 hour", spanMs: HOUR, buckets: 60 },
  { name: "24h", label: "24 hours", spanMs: DAY, buckets: 48 },
  { name: "7d", label: "7 days", spanMs: 7 * DAY, buckets: 56 },
  { name: "30d", label: "30 days", spanMs: 30 * DAY, buckets: 60 },
] as const;

export type Range = (typeof RANGES)[number];

export const FIRST_RANGE: Range = RANGES[1];

export function historyQuery(range: Range, now: number): { from: string; to: string; buckets: number } {
  return {
    from: new Date(now - range.spanMs).toISOString(),
    to: new Date(now).toISOString(),
    buckets: range.buckets,
  };
}
