import { describe, expect, test } from "bun:test";
import { crashOf } from "../../scripts/testing/group-run.ts";
import { splitIntoGroups, weightOf } from "../../scripts/testing/groups.ts";

const passed = { file: "test/a.test.ts", groups: [], title: "a", outcome: "passed" as const, seconds: 0 };
const failed = { ...passed, outcome: "failed" as const };

describe("groups", () => {
  const files = [
    ...Array.from({ length: 100 }, (_, i) => `test/model/unit-${i}.test.ts`),
    ...Array.from({ length: 5 }, (_, i) => `test/scenarios/real-${i}.test.ts`),
    "test/chaos/quotas.test.ts",
  ];
  const weightOfAll = (group: readonly string[]) => group.reduce((sum, file) => sum + weightOf(file), 0);

  test("hold every file once, the heaviest come first, and only a single file weighs more than others may", () => {
    const groups = splitIntoGroups(files);
    expect(groups.flat().sort()).toEqual(files.toSorted());
    const weights = groups.map(weightOfAll);
    expect(weights).toEqual(weights.toSorted((one, other) => other - one));
    expect(groups.filter((group) => weightOfAll(group) > 45)).toEqual([["test/chaos/quotas.test.ts"]]);
    // The small ones fill up the others.
    expect(groups.length).toBeLessThan(10);
  });

  test("are the same for the same files in any order, and none is empty", () => {
    expect(splitIntoGroups(files)).toEqual(splitIntoGroups(files.toReversed()));
    expect(splitIntoGroups(["test/a.test.ts"])).toEqual([["test/a.test.ts"]]);
    expect(splitIntoGroups([])).toEqual([]);
  });
});

describe("the end of a group", () => {
  test("is a crash unless exit code and report agree", () => {
    expect(crashOf(0, [passed])).toBeUndefined();
    expect(crashOf(1, [passed, failed])).toBeUndefined();
    expect(crashOf(1, [passed])).toBeDefined();
    expect(crashOf(139, [passed, failed])).toBeDefined();
    expect(crashOf(0, [])).toBeDefined();
  });
});
