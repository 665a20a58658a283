import { expect, test } from "bun:test";
import { PLANTED, storedTask } from "../../bench/status/stored-tasks.ts";
import { transition } from "../../src/model/transition.ts";

const tasks = Array.from({ length: 2_000 }, (_, age) => {
  const { id, made, ended } = storedTask(age);
  const end = transition(transition(null, made).task, ended);
  if (end.task === null || !end.changed) throw new Error(`task ${id} did not end`);
  return end.task;
});

const holding = (word: string) => tasks.filter(({ description }) => description.includes(word)).length;

test("a task of one age is always the same, and newer ones started later", () => {
  expect(storedTask(7)).toEqual(storedTask(7));
  const starts = tasks.map(({ startedAt }) => startedAt);
  expect(starts).toEqual([...starts].sort((one, other) => other - one));
});

test("the planted words appear in their share of the descriptions", () => {
  expect(holding(PLANTED.hundredth)).toBe(tasks.length / 100);
  expect(holding(PLANTED.rare)).toBe(1);
  expect(Math.abs(holding(PLANTED.frequent) / tasks.length - 0.3)).toBeLessThan(0.04);
});

test("tasks look like real ones: short descriptions, results, several agents, and all have ended", () => {
  for (const { description, status, run, progress } of tasks) {
    expect(description.split(" ").length).toBeWithin(3, 9);
    expect(status).toBeOneOf(["completed", "error", "cancelled"]);
    expect(progress.toolCalls).toBeGreaterThan(0);
    if (run.result !== null) expect(run.result.length).toBeWithin(200, 2_001);
  }
  expect(new Set(tasks.map(({ agent }) => agent)).size).toBe(6);
});
