/**
 * The figures of a comparison: medians, and percentile bootstrap intervals of a median and of a ratio of medians.
 * Pure: a seeded random generator is passed in, so that the same samples give the same interval.
 */

/** A figure with its 95% confidence interval. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/** One pair: what each side took. */
export interface Pair {
  ours: number;
  theirs: number;
}

/** Returns numbers from 0 up to, but not including, 1. */
export type Random = () => number;

const RESAMPLES = 10_000;
/** Each sorts all pairs. */
const TAIL_RESAMPLES = 2_000;
const TAIL = 0.025;

/** The generator mulberry32: small, fast, and good enough for resampling. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the values lies, interpolated between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("There is no quantile of no values.");
  const sorted = [...values].sort((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export function medianEstimate(values: readonly number[], random: Random, resamples = RESAMPLES): Estimate {
  return bootstrap(values, median, { random, resamples });
}

/** The ratio of the medians. Whole pairs are drawn, since both sides of a pair saw the same state of the machine. */
export function ratioEstimate(pairs: readonly Pair[], random: Random): Estimate {
  return bootstrap(pairs, ratioOfMedians, { random, resamples: RESAMPLES });
}

export function ratioOfMedians(pairs: readonly Pair[]): number {
  return median(pairs.map((pair) => pair.ours)) / median(pairs.map((pair) => pair.theirs));
}

/** The ratio of the values below which this share lies on each side. */
export function tailRatioEstimate(pairs: readonly Pair[], share: number, random: Random): Estimate {
  const tail = (drawn: readonly Pair[], side: keyof Pair) =>
    quantile(
      drawn.map((pair) => pair[side]),
      share,
    );
  return bootstrap(pairs, (drawn) => tail(drawn, "ours") / tail(drawn, "theirs"), {
    random,
    resamples: TAIL_RESAMPLES,
  });
}

/** The median of the differences, ours minus theirs, of all pairs. */
export function differenceEstimate(pairs: readonly Pair[], random: Random): Estimate {
  const differences = pairs.map(({ ours, theirs }) => ours - theirs);
  return medianEstimate(differences, random);
}

function bootstrap<T>(
  items: readonly T[],
  figure: (drawn: readonly T[]) => number,
  { random, resamples }: { random: Random; resamples: number },
): Estimate {
  const value = figure(items);
  const drawn = [...items];
  const figures = Array.from({ length: resamples }, () => {
    for (let index = 0; index < drawn.length; index++) {
      drawn[index] = items[Math.floor(random() * items.length)] as T;
    }
    return figure(drawn);
  });
  return { value, low: quantile(figures, TAIL), high: quantile(figures, 1 - TAIL) };
}
