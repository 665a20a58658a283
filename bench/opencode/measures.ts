/**
 * What is judged, and how: each measure with its limit, its figures from the pairs, and the verdict. Pure except for
 * its fixed seed, so that the same pairs are always judged the same way.
 */

import { type Estimate, medianEstimate, ratioEstimate, seededRandom } from "../statistics.ts";
import type { Mode } from "./bed.ts";
import type { Side } from "./contenders.ts";
import type { ManyTrial } from "./many-tasks.ts";
import type { Trial } from "./trial.ts";

type Timed = Exclude<keyof Trial, "requests">;

export interface Measure<Key extends string = string> {
  key: Key;
  title: string;
  /** The most that ours may take, as a multiple of theirs; null if it is only shown. */
  limit: number | null;
}

export interface Judged extends Measure {
  ours: Estimate;
  theirs: Estimate;
  ratio: Estimate;
  /** Null if there is no limit. */
  passed: boolean | null;
}

const LIMIT = 1.2;

/**
 * Without the TUI, a plugin can reach OpenCode only over HTTP, and that request costs more than all of our own work:
 * see the decision of 2026-11-15, "Telling the parent is measured where people sit". The higher limit there is a
 * safeguard, not a goal.
 */
const TOLD_LIMITS: Record<Mode, number> = { tui: LIMIT, serve: 2.2 };

export function measuresOf(mode: Mode): Measure<Timed>[] {
  return [
    { key: "launchCall", title: "the launching call", limit: LIMIT },
    { key: "launchPath", title: "… and to the model's next request", limit: LIMIT },
    { key: "told", title: "child's last token to parent told", limit: TOLD_LIMITS[mode] },
  ];
}

export const MANY_MEASURES: Measure<keyof ManyTrial>[] = [
  { key: "launchTurn", title: "60 calls to the model's next request", limit: LIMIT },
  { key: "allTold", title: "60 calls to all 60 told", limit: LIMIT },
];

const SEED = 20_261_115;

export function judge<Key extends string>(
  measure: Measure<Key>,
  trials: readonly Record<Side, Record<Key, number>>[],
): Judged {
  const pairs = trials.map((pair) => ({ ours: pair.ours[measure.key], theirs: pair.theirs[measure.key] }));
  const of = (side: Side) => pairs.map((pair) => pair[side]);
  const ratio = ratioEstimate(pairs, seededRandom(SEED));
  return {
    ...measure,
    ours: medianEstimate(of("ours"), seededRandom(SEED)),
    theirs: medianEstimate(of("theirs"), seededRandom(SEED)),
    ratio,
    passed: measure.limit === null ? null : ratio.value <= measure.limit,
  };
}
