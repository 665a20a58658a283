import { expect, test } from "bun:test";
import {
  differenceEstimate,
  median,
  medianEstimate,
  type Pair,
  quantile,
  ratioEstimate,
  ratioOfMedians,
  seededRandom,
  tailRatioEstimate,
} from "../../bench/statistics.ts";

const numbers = (count: number, make: (random: () => number) => number, seed = 1) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => make(random));
};

test("the median is the middle value, or the mean of the two middle ones, in any order", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([7])).toBe(7);
});

test("a median does not change its values", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
});

test("a quantile lies between its neighbours, and reaches the ends", () => {
  expect(quantile([10, 20, 30], 0)).toBe(10);
  expect(quantile([10, 20, 30], 0.25)).toBe(15);
  expect(quantile([10, 20, 30], 1)).toBe(30);
});

test("there is no median of an empty list", () => {
  expect(() => median([])).toThrow("no values");
});

test("the same seed gives the same random numbers, another one gives others", () => {
  const three = (seed: number) => numbers(3, (random) => random(), seed);
  expect(three(5)).toEqual(three(5));
  expect(three(5)).not.toEqual(three(6));
});

test("random numbers are uniform from 0 to below 1", () => {
  const tenths = new Array<number>(10).fill(0);
  for (const value of numbers(100_000, (random) => random())) {
    const tenth = Math.floor(value * 10);
    tenths[tenth] = (tenths[tenth] ?? Number.NaN) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(400);
});

test("identical values leave no uncertainty", () => {
  expect(medianEstimate([5, 5, 5, 5], seededRandom(1))).toEqual({ value: 5, low: 5, high: 5 });
});

test("an estimate is reproducible with the same seed, and lies within its interval", () => {
  const values = numbers(40, (random) => 10 + random() * 5);
  const estimate = medianEstimate(values, seededRandom(1));
  expect(medianEstimate(values, seededRandom(1))).toEqual(estimate);
  expect(estimate.value).toBe(median(values));
  expect(estimate.low).toBeLessThan(estimate.value);
  expect(estimate.high).toBeGreaterThan(estimate.value);
});

test("the interval of a median contains the true one about 95 times in 100", () => {
  let held = 0;
  for (let round = 0; round < 100; round++) {
    const { low, high } = medianEstimate(
      numbers(30, (random) => random(), 100 + round),
      seededRandom(round),
      500,
    );
    if (low <= 0.5 && 0.5 <= high) held++;
  }
  expect(held).toBeGreaterThanOrEqual(88);
});

test("the ratio is that of the medians, ours over theirs", () => {
  const pairs: Pair[] = [
    { ours: 3, theirs: 1 },
    { ours: 6, theirs: 2 },
    { ours: 600, theirs: 3 },
  ];
  expect(ratioOfMedians(pairs)).toBe(3);
  expect(ratioEstimate(pairs, seededRandom(1)).value).toBe(3);
});

test("pairs are drawn whole: what both sides share does not widen the interval", () => {
  const loads = numbers(30, (random) => 1 + random() * 9);
  const pairs = loads.map((load) => ({ ours: 2 * load, theirs: load }));
  const { value, low, high } = ratioEstimate(pairs, seededRandom(1));
  for (const bound of [value, low, high]) expect(bound).toBeCloseTo(2, 9);
});

test("the ratio of tails is that of the slowest, and lies within its interval", () => {
  const pairs = Array.from({ length: 200 }, (_, index) => ({
    ours: index < 196 ? 1 : 30,
    theirs: index < 196 ? 1 : 10,
  }));
  const { value, low, high } = tailRatioEstimate(pairs, 0.99, seededRandom(1));
  expect(value).toBeCloseTo(3, 9);
  expect([low <= value, value <= high]).toEqual([true, true]);
  expect(tailRatioEstimate(pairs, 0.5, seededRandom(1)).value).toBe(1);
});

test("the difference is the median of the pairs' differences, not the difference of the medians", () => {
  const pairs: Pair[] = [
    { ours: 11, theirs: 1 },
    { ours: 4, theirs: 2 },
    { ours: 6, theirs: 3 },
  ];
  expect(differenceEstimate(pairs, seededRandom(1)).value).toBe(3);
});
