import { expect, test } from "bun:test";
import { limitSettings } from "../../src/cli/limit-settings.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";

function read(environment: Record<string, string>) {
  const logged: string[] = [];
  const log = { info() {}, error: (message: string) => logged.push(message) };
  return { ...limitSettings(environment, log), logged };
}

test("without a word nothing is limited but loops", () => {
  expect(read({})).toEqual({ limits: DEFAULT_LIMITS, maxConcurrent: null, logged: [] });
});

test("each is read in its unit", () => {
  const environment = {
    ASYNCAGENTS_MAX_CONCURRENT: "4",
    ASYNCAGENTS_MAX_MINUTES: "1.5",
    ASYNCAGENTS_MAX_COST: "0.25",
    ASYNCAGENTS_MAX_REPEATS: "9",
    ASYNCAGENTS_STALL_MINUTES: " 2 ",
  };
  expect(read(environment)).toEqual({
    limits: { runMs: 90_000, cost: 0.25, repeats: 9, stallMs: 120_000 },
    maxConcurrent: 4,
    logged: [],
  });
});

test("a wrong one is logged and does not count", () => {
  for (const given of ["many", "-1", "0", "1.5", "Infinity", "1e9"]) {
    const settings = read({ ASYNCAGENTS_MAX_CONCURRENT: given });
    expect([given, settings.maxConcurrent, settings.logged.length]).toEqual([given, null, 1]);
  }
});
