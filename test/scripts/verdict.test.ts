import { describe, expect, test } from "bun:test";
import type { TestResult } from "../../scripts/testing/junit.ts";
import { judge, type Run } from "../../scripts/testing/verdict.ts";

function result(outcome: TestResult["outcome"], title = "a [AT-01.1]"): TestResult {
  return { file: "test/a.test.ts", groups: ["group"], title, outcome, seconds: 0 };
}

function run(tests: TestResult[], changes: Partial<Run> = {}, group: { files?: string[]; crash?: string } = {}): Run {
  return {
    checks: [{ name: "types", passed: true, output: "" }],
    groups: [{ name: "group-1", files: ["test/a.test.ts"], tests, cpuSeconds: 0, ...group }],
    known: ["AT-01.1", "AT-01.2"],
    capabilities: [{ name: "all", ids: [/^AT-/], done: false }],
    filtered: false,
    ...changes,
  };
}

const done = [{ name: "all", ids: [/^AT-/], done: true }];

describe("the verdict", () => {
  test("counts tests and checks", () => {
    expect(judge(run([result("passed")]))).toEqual({ passed: 2, failures: [], proven: 1 });
  });

  test.each<[string, Run]>([
    ["a failing test", run([result("passed"), result("failed")])],
    ["a skipped test", run([result("passed"), result("skipped")])],
    ["a failing check", run([result("passed")], { checks: [{ name: "types", passed: false, output: "" }] })],
    ["a group that crashed", run([result("passed")], {}, { crash: "ended with code 139" })],
    ["a file without a report", run([result("passed")], {}, { files: ["test/a.test.ts", "test/b.test.ts"] })],
    ["a run of nothing", run([], { groups: [] })],
    ["an unknown id", run([result("passed", "a [AT-77.7]")])],
    ["an id outside of all capabilities", run([result("passed")], { known: ["AT-01.1", "ZZ-01"] })],
    ["an unproven id of what is declared done", run([result("passed")], { capabilities: done })],
  ])("%s is one failure", (_, given) => {
    expect(judge(given).failures).toHaveLength(1);
  });

  test("a partial run does not report unproven requirements", () => {
    expect(judge(run([result("passed")], { capabilities: done, filtered: true })).failures).toEqual([]);
  });

  test("a failure names file, groups, title and reason", () => {
    const failure = { ...result("failed"), message: "expected 1" };
    expect(judge(run([failure])).failures).toEqual(["test/a.test.ts: group > a [AT-01.1] (expected 1)"]);
  });
});
