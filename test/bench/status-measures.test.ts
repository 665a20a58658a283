import { expect, test } from "bun:test";
import { LIST_CONTENDERS, type ListRound, turned } from "../../bench/status/list-rounds.ts";
import {
  eventMeasures,
  isWithin,
  judgeStatus,
  listMeasures,
  type StatusMeasure,
  startMeasures,
} from "../../bench/status/measures.ts";
import { spread, statusTable, statusVerdict } from "../../bench/status/report.ts";

const found = { rare: 5, hundredth: 1_000, frequent: 30_000, letters: 10 };

/** The verdicts of the measures that have one, by title and comparison. */
function verdicts(measures: readonly StatusMeasure[]): Record<string, boolean> {
  const judged = measures.map(judgeStatus).flatMap(({ title, against, passed }) => {
    return passed === null ? [] : [[`${title} / ${against}`, passed] as const];
  });
  return Object.fromEntries(judged);
}

function round(rates: Partial<ListRound>): ListRound {
  const usual = Object.fromEntries(LIST_CONTENDERS.map((name) => [name, 1_000])) as ListRound;
  return { ...usual, ...rates };
}

test("a limit includes its own value, in both directions", () => {
  expect(isWithin(2, { bound: "at most", value: 2 })).toBe(true);
  expect(isWithin(2.01, { bound: "at most", value: 2 })).toBe(false);
  expect(isWithin(0.7, { bound: "at least", value: 0.7 })).toBe(true);
  expect(isWithin(0.69, { bound: "at least", value: 0.7 })).toBe(false);
});

test("a list may be slower than a bare server's and than with few tasks, up to a limit", () => {
  const held = listMeasures({ rounds: [round({ list: 800, hundredth: 161 })], found });
  expect(verdicts(held)).toEqual({
    "a list of 50 / a bare server's": true,
    "a list of 50 / the list at 100 tasks": true,
    "search: a word in 1% (finds 1,000) / the list": true,
  });
  const missed = listMeasures({ rounds: [round({ list: 690, hundredth: 137 })], found });
  expect(Object.values(verdicts(missed))).toEqual([false, false, false]);
});

test("a search is judged by its time, the list by its rate", () => {
  const measures = listMeasures({ rounds: [round({ list: 1_000, hundredth: 250 })], found });
  const search = measures.find(({ title }) => title.includes("1%"));
  expect(search && judgeStatus(search).compared.value).toBe(4);
});

test("events are judged by the p99 of each round, in the median of the rounds", () => {
  const even = (from: number) => Array.from({ length: 101 }, (_, index) => from + index / 100);
  const rounds = [10, 20, 1_000].map((ours) => ({ ours: even(ours), theirs: even(10) }));
  const [, tail] = eventMeasures({ rounds }).map(judgeStatus);
  expect(tail?.ours.value).toBeCloseTo(20.99, 9);
  expect(tail?.passed).toBe(true);
});

test("a start is judged by its ratio, memory by its increase", () => {
  const start = (plugin: number, memory: number) => ({ plugin, process: 10 * plugin, memory });
  const pair = (plugin: number, memory: number) => ({ many: start(plugin, memory), none: start(100, 300) });
  expect(Object.values(verdicts(startMeasures([pair(120, 330)])))).toEqual([true, true]);
  expect(Object.values(verdicts(startMeasures([pair(121, 331)])))).toEqual([false, false]);
});

test("a verdict states the figure, its interval and which side of the limit it is on", () => {
  const [bare] = listMeasures({ rounds: [round({ list: 600 })], found }).map(judgeStatus);
  expect(bare && statusVerdict(bare)).toBe(
    "FAIL  a list of 50: 0.60 times a bare server's (95% interval 0.60 to 0.60), less than 0.7",
  );
  const memory = startMeasures([
    { many: { plugin: 1, process: 1, memory: 312 }, none: { plugin: 1, process: 1, memory: 300 } },
  ]).map(judgeStatus)[2];
  expect(memory && statusVerdict(memory)).toBe(
    "PASS  OpenCode's memory: 12.0 MB more than an empty store (95% interval 12.0 to 12.0), at most 30",
  );
});

test("the table shows a mark only if there is a limit", () => {
  const lines = statusTable(listMeasures({ rounds: [round({})], found }).map(judgeStatus)).split("\n");
  expect(lines.filter((line) => /[✓✗]$/.test(line))).toHaveLength(3);
});

test("times are reported by their median and their tail", () => {
  expect(spread([1, 2, 3])).toBe("p50 2.0 ms, p99 3.0 ms, longest 3.0 ms");
});

test("every other round runs backwards", () => {
  expect([-2, -1, 0, 1].map((index) => turned(["a", "b"], index).join(""))).toEqual(["ab", "ba", "ab", "ba"]);
});
