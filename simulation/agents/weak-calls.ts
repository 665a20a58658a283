/**
 * In half of the seeds one or two kinds of calls go wrong far more often than others: what must follow from a failure,
 * or from several in a row, is seldom tried otherwise.
 */
import type { Random } from "../time/random.ts";

interface WeakCall {
  name: string;
  /** How many times as often as other calls, and at most with which probability. */
  times: number;
  most: number;
}

const TIMES = 30;

/** A stop is given up after some failures, so that most of them must succeed. */
const WEAK_CALLS: readonly WeakCall[] = [
  { name: "abort", times: TIMES, most: 0.5 },
  { name: "abort", times: TIMES, most: 0.5 },
  { name: "notify", times: TIMES, most: 0.9 },
  { name: "notify", times: TIMES, most: 0.9 },
  { name: "inspect", times: TIMES, most: 0.6 },
  { name: "prompt", times: TIMES, most: 0.5 },
  { name: "start", times: TIMES, most: 0.5 },
  { name: "exists", times: TIMES, most: 0.5 },
  { name: "messages", times: TIMES, most: 0.5 },
  { name: "find launch", times: TIMES, most: 0.8 },
];

/** Those of a seed, for all hosts. */
export function weakCallsOf(seed: Random): readonly WeakCall[] {
  const random = seed.split("weak calls");
  return random.chance(0.5) ? [random.pick(WEAK_CALLS), random.pick(WEAK_CALLS)] : [];
}
