import { expect, test } from "bun:test";
import { readConfiguration } from "../../src/configuration/configuration.ts";
import { limitSettings } from "../../src/daemon/limit-settings.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";

function read(environment: Record<string, string>) {
  return limitSettings(readConfiguration({ directory: "/nowhere", environment }));
}

const USUAL = {
  maxConcurrent: 16,
  maxQueued: 200,
  maxDepth: 1,
  rules: [],
  budgets: {},
  prices: {},
  retention: { olderThanMs: undefined, keep: undefined },
};

test("by default loops, the number of tasks and their depth are limited, and nothing is pruned", () => {
  expect(read({})).toEqual({ limits: DEFAULT_LIMITS, ...USUAL });
});

test("each is read in its unit", () => {
  const environment = {
    ASYNCAGENTS_MAX_CONCURRENT: "4",
    ASYNCAGENTS_MAX_QUEUED: "7",
    ASYNCAGENTS_MAX_DEPTH: "2",
    ASYNCAGENTS_MAX_MINUTES: "1.5",
    ASYNCAGENTS_MAX_COST: "0.25",
    ASYNCAGENTS_MAX_REPEATS: "9",
    ASYNCAGENTS_STALL_MINUTES: " 2 ",
    ASYNCAGENTS_STALL_TOOLS: "Bash=30, task = 0.5",
    ASYNCAGENTS_STALL_POLICY: "restart",
    ASYNCAGENTS_STALL_RESTARTS: "3",
    ASYNCAGENTS_MAX_RETRIES: "5",
    ASYNCAGENTS_MAX_RETRY_MINUTES: "6",
    ASYNCAGENTS_MAX_QUOTA_WAITS: "0",
    ASYNCAGENTS_MAX_QUOTA_HOURS: "1.5",
    ASYNCAGENTS_KEEP_DAYS: "0.5",
    ASYNCAGENTS_KEEP_TASKS: "1000",
    ASYNCAGENTS_POLICIES: '[{ "tool": "bash", "decision": "deny" }]',
    ASYNCAGENTS_TASK_BUDGET: "$2 1h",
    ASYNCAGENTS_SESSION_BUDGET: "500ktok 5tasks",
    ASYNCAGENTS_PRICES: '{ "m": { "input": 1, "output": 2 } }',
  };
  expect(read(environment)).toEqual({
    limits: {
      runMs: 90_000,
      cost: 0.25,
      repeats: 9,
      stallMs: 120_000,
      stallToolMs: { bash: 1_800_000, task: 30_000 },
      stallPolicy: "restart",
      stallRestarts: 3,
      retries: 5,
      retryMs: 360_000,
      quotaWaits: 0,
      quotaMs: 5_400_000,
      hostWaitMs: 30_000,
    },
    maxConcurrent: 4,
    maxQueued: 7,
    maxDepth: 2,
    rules: [{ tool: "bash", decision: "deny" }],
    budgets: {
      task: { cost: 2, ms: 3_600_000, tokens: null, tasks: null },
      batch: undefined,
      session: { cost: null, ms: null, tokens: 500_000, tasks: 5 },
    },
    prices: { m: { input: 1, output: 2 } },
    retention: { olderThanMs: 43_200_000, keep: 1_000 },
  });
});

test("an invalid one is refused, never replaced by a default", () => {
  for (const given of ["many", "-1", "0", "1.5", "Infinity", "1e9"]) {
    const message = `ASYNCAGENTS_MAX_CONCURRENT is ${/^\d+(\.\d+)?$/.test(given) ? given : JSON.stringify(given)}: it must be a whole number, 1 or more.`;
    expect(() => read({ ASYNCAGENTS_MAX_CONCURRENT: given })).toThrow(message);
  }
});

test("a budget or a price with a mistake is refused", () => {
  for (const given of ["2", "$2 $3", "many", "5 tasks"]) {
    expect(() => read({ ASYNCAGENTS_TASK_BUDGET: given })).toThrow('it must be a budget such as "$2 30min');
  }
  for (const [given, said] of [
    ["free", "it must be prices by model"],
    ['{ "m": { "input": -1, "output": 2 } }', "ASYNCAGENTS_PRICES.m.input is -1: it must be at least 0."],
    ['{ "m": { "input": 1 } }', "ASYNCAGENTS_PRICES.m.output is missing: it must be a number."],
  ] as const) {
    expect(() => read({ ASYNCAGENTS_PRICES: given })).toThrow(said);
  }
});

test("policies with a mistake are refused: nothing starts with other rules than those that were written", () => {
  for (const given of [
    "[",
    "{}",
    '[{ "decision": "allow", "tools": "bash" }]',
    '[{ "decision": "ask", "minutes": 5 }]',
  ]) {
    expect(() => read({ ASYNCAGENTS_POLICIES: given })).toThrow("ASYNCAGENTS_POLICIES");
  }
});
