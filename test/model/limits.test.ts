import { expect, test } from "bun:test";
import { breachOf, DEFAULT_LIMITS, isStalled } from "../../src/model/limits.ts";

const run = { acceptedAt: 1_000, lastUpdate: 5_000, cost: 2.5, repeated: null };

test("by default a run may take what it needs, and is called stalled after ten minutes of silence", () => {
  expect(breachOf({ ...run, cost: 1e6 }, DEFAULT_LIMITS, 1e12)).toBeNull();
  expect(isStalled(run, DEFAULT_LIMITS, 5_000 + 599_999)).toBe(false);
  expect(isStalled(run, DEFAULT_LIMITS, 5_000 + 600_000)).toBe(true);
});

test("silence is counted from the prompt on, whatever was before", () => {
  const limits = { ...DEFAULT_LIMITS, stallMs: 100 };
  expect(isStalled({ ...run, acceptedAt: 9_000 }, limits, 9_099)).toBe(false);
  expect(isStalled({ ...run, acceptedAt: 9_000 }, limits, 9_100)).toBe(true);
});

test("a limit itself is still allowed; beyond it the words name what it took and what was allowed", () => {
  const limits = { ...DEFAULT_LIMITS, cost: 2.5, runMs: 90_000 };
  expect(breachOf(run, limits, 91_000)).toBeNull();
  expect(breachOf(run, limits, 91_001)).toContain("longer than 1.5 minutes");
  expect(breachOf({ ...run, cost: 2.504 }, limits, 2_000)).toContain("has cost $2.50, and the limit is $2.50");
  expect(breachOf({ ...run, cost: 3 }, limits, 2_000)).toContain("has cost $3.00");
});

test("the same call may be made as often in a row as the limit says", () => {
  const repeated = (times: number) => breachOf({ ...run, repeated: { tool: "grep", times } }, DEFAULT_LIMITS, 6_000);
  expect(repeated(30)).toBeNull();
  expect(repeated(31)).toContain("called grep with the same arguments 31 times in a row, and the limit is 30");
});
