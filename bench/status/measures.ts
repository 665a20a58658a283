/**
 * What is judged about the status API, and how: each measure with its pairs, its limit and the verdict. Pure except
 * for its fixed seed, so that the same figures are always judged the same way.
 */

import {
  differenceEstimate,
  type Estimate,
  medianEstimate,
  type Pair,
  quantile,
  ratioEstimate,
  seededRandom,
} from "../statistics.ts";
import type { EventFigures } from "./event-rounds.ts";
import type { ListFigures } from "./list-rounds.ts";
import type { PluginStart, StartPair } from "./plugin-starts.ts";

export interface Limit {
  bound: "at most" | "at least";
  value: number;
}

export interface StatusMeasure {
  title: string;
  /** What ours is compared with. */
  against: string;
  unit: "/s" | "ms" | "MB";
  /** `ratio`: ours over theirs; `difference`: ours minus theirs, in the unit. */
  compare: "ratio" | "difference";
  /** Null if it is only shown. */
  limit: Limit | null;
  pairs: Pair[];
}

export interface JudgedStatus extends StatusMeasure {
  ours: Estimate;
  theirs: Estimate;
  compared: Estimate;
  /** Null if there is no limit. */
  passed: boolean | null;
}

const SEED = 20_261_115;
const atMost = (value: number): Limit => ({ bound: "at most", value });
const atLeast = (value: number): Limit => ({ bound: "at least", value });

export function judgeStatus(measure: StatusMeasure): JudgedStatus {
  const { pairs, limit, compare } = measure;
  const compared = (compare === "ratio" ? ratioEstimate : differenceEstimate)(pairs, seededRandom(SEED));
  return {
    ...measure,
    ours: medianEstimate(
      pairs.map(({ ours }) => ours),
      seededRandom(SEED),
    ),
    theirs: medianEstimate(
      pairs.map(({ theirs }) => theirs),
      seededRandom(SEED),
    ),
    compared,
    passed: limit === null ? null : isWithin(compared.value, limit),
  };
}

export function isWithin(value: number, limit: Limit): boolean {
  return limit.bound === "at most" ? value <= limit.value : value >= limit.value;
}

export function startMeasures(pairs: readonly StartPair[]): StatusMeasure[] {
  const against = "an empty store";
  const of = (key: keyof PluginStart) => pairs.map(({ many, none }) => ({ ours: many[key], theirs: none[key] }));
  return [
    { title: "the plugin's start", against, unit: "ms", compare: "ratio", limit: atMost(1.2), pairs: of("plugin") },
    { title: "… with OpenCode's", against, unit: "ms", compare: "ratio", limit: null, pairs: of("process") },
    { title: "OpenCode's memory", against, unit: "MB", compare: "difference", limit: atMost(30), pairs: of("memory") },
  ];
}

export function listMeasures({ rounds, found }: Omit<ListFigures, "bytes">): StatusMeasure[] {
  type Name = keyof (typeof rounds)[number];
  const rates = (other: Name) => rounds.map((round) => ({ ours: round.list, theirs: round[other] }));
  const times = (name: Name) => rounds.map((round) => ({ ours: 1000 / round[name], theirs: 1000 / round.list }));
  const rate = { unit: "/s", compare: "ratio" } as const;
  const time = { unit: "ms", compare: "ratio", against: "the list" } as const;
  const search = (words: string, name: Name) => `search: ${words} (finds ${found[name]?.toLocaleString("en-US")})`;
  return [
    { ...rate, title: "a list of 50", against: "a bare server's", limit: atLeast(0.7), pairs: rates("bare") },
    { ...rate, title: "a list of 50", against: "the list at 100 tasks", limit: atLeast(0.8), pairs: rates("small") },
    {
      ...rate,
      title: "a list of 50",
      against: "constant bytes of a bare server",
      limit: null,
      pairs: rates("constant"),
    },
    { ...time, title: search("a rare word", "rare"), limit: null, pairs: times("rare") },
    { ...time, title: search("a word in 1%", "hundredth"), limit: atMost(5), pairs: times("hundredth") },
    { ...time, title: search("a word in 30%", "frequent"), limit: null, pairs: times("frequent") },
    { ...time, title: search("two letters", "letters"), limit: null, pairs: times("letters") },
  ];
}

export function eventMeasures({ rounds }: Pick<EventFigures, "rounds">): StatusMeasure[] {
  const at = (share: number) =>
    rounds.map(({ ours, theirs }) => ({ ours: quantile(ours, share), theirs: quantile(theirs, share) }));
  const kind = { against: "a bare server's", unit: "ms", compare: "ratio" } as const;
  return [
    { ...kind, title: "a change to all readers, p50", limit: null, pairs: at(0.5) },
    { ...kind, title: "a change to all readers, p99", limit: atMost(2), pairs: at(0.99) },
  ];
}
