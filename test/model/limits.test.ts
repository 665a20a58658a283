import { expect, test } from "bun:test";
import { breachOf, DEFAULT_LIMITS, quietLimit } from "../../src/model/limits.ts";

const run = { workedMs: 90_000, quietMs: 0, cost: 2.5, repeated: null, tool: null };

test("by default a run has no time or cost limit, and counts as stalled after ten minutes without activity", () => {
  expect(breachOf({ ...run, cost: 1e6, workedMs: 1e12 }, DEFAULT_LIMITS)).toBeNull();
  expect(quietLimit(run, DEFAULT_LIMITS)).toBe(600_000);
});

test("a run may reach its limit; beyond it the error names the usage and the limit", () => {
  const limits = { ...DEFAULT_LIMITS, cost: 2.5, runMs: 90_000 };
  expect(breachOf(run, limits)).toBeNull();
  expect(breachOf({ ...run, workedMs: 90_001 }, limits)).toContain("longer than 1.5 minutes");
  expect(breachOf({ ...run, cost: 3 }, limits)).toContain("has cost $3.00, and the limit is $2.50");
});

test("a call may be repeated as often in a row as the limit allows", () => {
  const repeated = (times: number) => breachOf({ ...run, repeated: { tool: "grep", times } }, DEFAULT_LIMITS);
  expect(repeated(50)).toBeNull();
  expect(repeated(51)).toContain("called grep with the same arguments 51 times in a row, and the limit is 50");
});
