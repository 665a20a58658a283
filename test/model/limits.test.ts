import { expect, test } from "bun:test";
import { breachOf, DEFAULT_LIMITS, isStalled } from "../../src/model/limits.ts";

const run = { workedMs: 90_000, quietMs: 0, cost: 2.5, repeated: null };

test("by default a run may take what it needs, and is called stalled after ten minutes of silence", () => {
  expect(breachOf({ ...run, cost: 1e6, workedMs: 1e12 }, DEFAULT_LIMITS)).toBeNull();
  expect(isStalled({ ...run, quietMs: 599_999 }, DEFAULT_LIMITS)).toBe(false);
  expect(isStalled({ ...run, quietMs: 600_000 }, DEFAULT_LIMITS)).toBe(true);
});

test("a limit itself is still allowed; beyond it the words name what it took and what was allowed", () => {
  const limits = { ...DEFAULT_LIMITS, cost: 2.5, runMs: 90_000 };
  expect(breachOf(run, limits)).toBeNull();
  expect(breachOf({ ...run, workedMs: 90_001 }, limits)).toContain("longer than 1.5 minutes");
  expect(breachOf({ ...run, cost: 3 }, limits)).toContain("has cost $3.00, and the limit is $2.50");
});

test("the same call may be made as often in a row as the limit says", () => {
  const repeated = (times: number) => breachOf({ ...run, repeated: { tool: "grep", times } }, DEFAULT_LIMITS);
  expect(repeated(50)).toBeNull();
  expect(repeated(51)).toContain("called grep with the same arguments 51 times in a row, and the limit is 50");
});
