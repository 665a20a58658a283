import { describe, expect, test } from "bun:test";
import type { TestResult } from "../../scripts/testing/junit.ts";
import { capabilities, citedIds, misplacedIds, prove, unprovenOf } from "../../scripts/testing/requirements.ts";
import requirements from "../requirements.json";

const ids = requirements.map(({ id }) => id);

function result(title: string, outcome: TestResult["outcome"] = "passed", groups: string[] = []): TestResult {
  return { file: "test/a.test.ts", groups, title, outcome, seconds: 0 };
}

describe("the list of requirements", () => {
  test("has 162 ids, each once, each in one capability", () => {
    expect(new Set(ids).size).toBe(162);
    expect(ids).toHaveLength(162);
    expect(misplacedIds(capabilities, ids)).toEqual([]);
  });

  test("is split as declared", () => {
    const count = (name: string) => {
      const group = capabilities.filter((capability) => capability.name === name);
      return unprovenOf(
        group.map((capability) => ({ ...capability, done: true })),
        ids,
        new Set(),
      )[0]?.ids.length;
    };
    const sizes = capabilities.map(({ name }) => count(name) ?? 0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(162);
    expect(sizes).not.toContain(0);
  });
});

describe("citations", () => {
  test.each([
    ["launches [AT-01.1]", ["AT-01.1"]],
    ["launches [AT-01.1, BT-01.1] ", ["AT-01.1", "BT-01.1"]],
    ["keeps rows [sqlite]", []],
    ["on [sqlite] keeps rows [AT-01.1]", ["AT-01.1"]],
    ["no ids", []],
    ["[AT-01.1] stands first", []],
  ])("are read from the end of a title, sample %#", (title, expected) => {
    expect(citedIds(title)).toEqual(expected);
  });

  test("a passing test proves its ids, unless a failing or skipped one cites them too", () => {
    const tests = [
      result("a [AT-01.1, AT-01.2]"),
      result("b [AT-01.2, BT-01.1]", "failed"),
      result("c [AT-02.1]"),
      result("d [AT-02.1]", "skipped"),
    ];
    expect([...prove(tests, new Set(ids)).proven]).toEqual(["AT-01.1"]);
  });

  test("an unknown id and a misplaced one are problems", () => {
    const known = new Set(ids);
    expect(prove([result("a [AT-99.1]")], known).problems).toHaveLength(1);
    expect(prove([result("a [AT-01.1, nonsense]")], known).problems).toHaveLength(1);
    expect(prove([result("[AT-01.1] a")], known).problems).toHaveLength(1);
    expect(prove([result("a", "passed", ["group [AT-01.1]"])], known).problems).toHaveLength(1);
    expect(prove([result("reads UTF-16 and [sqlite]"), result("a [MT-F2-01, AT-F-10]")], known).problems).toEqual([]);
  });

  test("only capabilities declared done have unproven ids", () => {
    const groups = [
      { name: "one", ids: [/^A/], done: true },
      { name: "two", ids: [/^B/], done: false },
    ];
    expect(unprovenOf(groups, ["A1", "A2", "B1"], new Set(["A1"]))).toEqual([{ name: "one", ids: ["A2"] }]);
    expect(misplacedIds([...groups, { name: "three", ids: [/2$/], done: true }], ["A1", "A2", "C1"])).toEqual([
      "A2",
      "C1",
    ]);
  });
});
