import { describe, expect, test } from "bun:test";
import { addProgress, countTool, fullerProgress, noProgress, type Progress } from "../../src/model/progress.ts";

const tokens = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };

function worked(at: number, tools: readonly string[], cost = 0): Progress {
  return { ...tools.reduce(countTool, noProgress(at)), tokens, cost };
}

describe("progress", () => {
  test("a call is counted in the total, by name, and in the five most recent tools", () => {
    const { toolCalls, toolCallsByName, lastTools } = worked(1, ["a", "b", "a", "c", "d", "e"]);
    expect(toolCalls).toBe(6);
    expect(toolCallsByName).toEqual({ a: 2, b: 1, c: 1, d: 1, e: 1 });
    expect(lastTools).toEqual(["b", "a", "c", "d", "e"]);
  });

  test("one hundred tool names are kept; calls of further tools are counted together", () => {
    const names = Array.from({ length: 103 }, (_, i) => `tool-${i}`);
    const { toolCalls, toolCallsByName } = worked(1, [...names, "tool-0", "tool-99"]);
    expect(toolCalls).toBe(105);
    expect(Object.keys(toolCallsByName)).toHaveLength(101);
    expect(toolCallsByName).toMatchObject({ other: 3, "tool-0": 2, "tool-99": 2 });
  });

  test("the progress of a run is added to the totals of earlier runs", () => {
    const sum = addProgress(worked(5, ["a", "b"], 1), worked(3, ["b", "c"], 0.5));
    expect(sum).toEqual({
      toolCalls: 4,
      toolCallsByName: { a: 1, b: 2, c: 1 },
      lastTools: ["a", "b", "b", "c"],
      lastUpdate: 5,
      tokens: { input: 2, output: 4, reasoning: 6, cacheRead: 8, cacheWrite: 10 },
      cost: 1.5,
    });
  });

  test("merging two records of the same work takes the larger of each number", () => {
    const one = { ...worked(5, ["a", "a"], 1), tokens: { ...tokens, input: 9 } };
    const other = { ...worked(7, ["a", "b", "c"], 0.5), tokens: { ...tokens, cacheWrite: 9 } };
    for (const fuller of [fullerProgress(one, other), fullerProgress(other, one)]) {
      expect(fuller).toEqual({
        toolCalls: 3,
        toolCallsByName: { a: 2, b: 1, c: 1 },
        lastTools: ["a", "b", "c"],
        lastUpdate: 7,
        tokens: { ...tokens, input: 9, cacheWrite: 9 },
        cost: 1,
      });
    }
  });

  test.each(["constructor", "toString", "__proto__"])("a tool named %s is counted like any other", (name) => {
    const once = worked(1, [name]);
    const none = noProgress(1);
    for (const each of [once, fullerProgress(once, none), fullerProgress(none, once), addProgress(none, once)]) {
      expect(Object.entries(each.toolCallsByName)).toEqual([[name, 1]]);
    }
    expect(Object.entries(addProgress(once, once).toolCallsByName)).toEqual([[name, 2]]);
  });
});
