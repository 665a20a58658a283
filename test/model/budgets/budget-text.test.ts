import { expect, test } from "bun:test";
import { NO_LIMITS, newBudget } from "../../../src/model/budgets/budget.ts";
import { limitsText, parseBudget, requireBudget, usageText } from "../../../src/model/budgets/budget-text.ts";
import { costOf, priceOf } from "../../../src/model/budgets/prices.ts";

test("a budget is read as it is written", () => {
  for (const [text, limits] of [
    ["$2", { cost: 2 }],
    ["$0.5, 90min", { cost: 0.5, ms: 5_400_000 }],
    ["1.5h 5tasks", { ms: 5_400_000, tasks: 5 }],
    ["500ktok", { tokens: 500_000 }],
    ["2Mtok 1task", { tokens: 2_000_000, tasks: 1 }],
    ["none", {}],
  ] as const) {
    expect(parseBudget(text)).toEqual({ ...NO_LIMITS, ...limits });
  }
  for (const text of ["", "2", "$", "$-1", "2 tasks", "$2 $3", "30", "lots", "$2 none", "5m", "$1e9"]) {
    expect([text, parseBudget(text)]).toEqual([text, null]);
  }
  const text = "$2 30min 500000tok 5tasks";
  expect(limitsText(parseBudget(text) ?? NO_LIMITS)).toBe(text);
  expect(() => requireBudget("5 dollars")).toThrow('Write it as "$2 30min 500ktok 5tasks"');
});

test("what is used is said with what is not known", () => {
  const limits = { cost: 1, tokens: 50_000, ms: 600_000, tasks: 5 };
  const budget = { ...newBudget("batch:b", limits, { by: "me", at: 0 }), tasks: 2, unpriced: 1_200 };
  const spent = { cost: 0.414, tokens: 12_000, ms: 90_000 };
  expect(usageText({ ...budget, spent })).toBe(
    "12,000 tokens of 50,000 tokens, $0.41 of $1.00, 1.5 min of 10 min, 2 of 5 tasks, cost unknown for 1,200 tokens",
  );
});

test("prices are found by name, a user's own before the known ones, and a model without one has none", () => {
  const own = { "ollama/qwen": { input: 0, output: 0 }, "claude-opus-4-5": { input: 1, output: 2 } };
  expect(priceOf("ollama/qwen", own)).toEqual({ input: 0, output: 0 });
  expect(priceOf("anthropic/claude-opus-4-5", own)).toEqual({ input: 1, output: 2 });
  expect(priceOf("claude-opus-4-5-20251101", {})?.input).toBe(5);
  expect(priceOf("claude-opus-4-1-20250805", {})?.input).toBe(15);
  expect(priceOf("fake/m1", own)).toBeNull();
  expect(priceOf("fake/constructor", own)).toBeNull();
  const tokens = { input: 1_000, output: 200, reasoning: 100, cacheRead: 10_000, cacheWrite: 400 };
  expect(costOf(tokens, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(0.012);
  expect(costOf(tokens, { input: 1, output: 0 })).toBeCloseTo(0.0114);
});
