/**
 * The ticks of the time axis: round amounts of elapsed time, far enough apart that their labels do not touch. Pure.
 */
import { axisText } from "../wording/durations.ts";
import type { TimeScale } from "./time-scale.ts";

export interface Tick {
  place: number;
  label: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** About `wanted` ticks, spread over the time that is not folded. */
export function axisTicks(scale: TimeScale, wanted: number): Tick[] {
  const open = scale.segments.filter(({ isIdle }) => !isIdle);
  const shown = open.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = STEPS.find((candidate) => shown / candidate <= wanted) ?? STEPS.at(-1) ?? DAY;
  const ticks: Tick[] = [];
  for (const { from, to } of open) {
    const elapsed = from - scale.begin;
    const beginning = ticks.length === 0 || elapsed % step === 0 ? [] : [elapsed];
    const round: number[] = [];
    for (let at = Math.ceil(elapsed / step) * step; at <= to - scale.begin; at += step) round.push(at);
    for (const at of [...beginning, ...round]) {
      const place = scale.place(scale.begin + at);
      const previous = ticks.at(-1);
      if (previous === undefined || place - previous.place >= 0.7 / wanted)
        ticks.push({ place, label: axisText(at - (at % SECOND)) });
    }
  }
  return ticks;
}
