import { describe, expect, test } from "bun:test";
import { crashOf } from "../../scripts/testing/lane-run.ts";
import { splitIntoLanes, weightOf } from "../../scripts/testing/lanes.ts";

const passed = { file: "test/a.test.ts", groups: [], title: "a", outcome: "passed" as const, seconds: 0 };
const failed = { ...passed, outcome: "failed" as const };

describe("lanes", () => {
  test("hold every file once, and weigh about the same", () => {
    const files = [
      ...Array.from({ length: 30 }, (_, i) => `test/model/unit-${i}.test.ts`),
      ...Array.from({ length: 5 }, (_, i) => `test/scenarios/real-${i}.test.ts`),
      "test/chaos/kill.test.ts",
    ];
    const lanes = splitIntoLanes(files, 2);
    expect(lanes.flat().sort()).toEqual(files.sort());
    const [a = 0, b = 0] = lanes.map((lane) => lane.reduce((sum, file) => sum + weightOf(file), 0));
    expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
  });

  test("are the same for the same files in any order, and none is empty", () => {
    const files = ["test/b.test.ts", "test/a.test.ts", "test/scenarios/c.test.ts"];
    expect(splitIntoLanes(files, 2)).toEqual(splitIntoLanes(files.toReversed(), 2));
    expect(splitIntoLanes(["test/a.test.ts"], 2)).toEqual([["test/a.test.ts"]]);
    expect(splitIntoLanes([], 2)).toEqual([]);
  });
});

describe("the end of a lane", () => {
  test("is a crash unless exit code and report agree", () => {
    expect(crashOf(0, [passed])).toBeUndefined();
    expect(crashOf(1, [passed, failed])).toBeUndefined();
    expect(crashOf(1, [passed])).toBeDefined();
    expect(crashOf(139, [passed, failed])).toBeDefined();
    expect(crashOf(0, [])).toBeDefined();
  });
});
