import { describe, expect, test } from "bun:test";
import { mayRun, readCoverage } from "../../scripts/mutation/coverage.ts";
import { mutated, mutationsOf, sample } from "../../scripts/mutation/mutations.ts";
import { parseText } from "../ground/syntax.ts";

async function changesOf(text: string): Promise<string[]> {
  const tree = await parseText(text);
  return mutationsOf("sample.ts", tree).map((mutation) => mutated(text, mutation));
}

describe("mutations", () => {
  test.each([
    ["if (a) b;", ["if (!(a)) b;", "if (a) ;"]],
    ["while (a < b) c();", ["while (!(a < b)) c();", "while (((a) <= (b))) c();", "while (a < b) ;"]],
    ["const x = a ?? b;", ["const x = ((a) && (b));"]],
    ["x ??= b;", ["x = b;", ";"]],
    ["throw a;", [";"]],
    ['const x = a === "b" ? 1 : 2;', ['const x = !(a === "b") ? 1 : 2;', 'const x = ((a) !== ("b")) ? 1 : 2;']],
    ["const x: true = true;", ["const x: true = false;"]],
    ['console.log(a); log(`b`); this.#log?.("c");', []],
    ["login(a);", [";"]],
    ['import "a"; type T = "b"; const text = "c";', []],
  ])("of %p", async (text, expected) => {
    expect((await changesOf(text)).toSorted()).toEqual(expect.arrayContaining(expected.toSorted()));
    if (expected.length === 0) expect(await changesOf(text)).toEqual([]);
  });

  test("of an await and a return", async () => {
    const changed = await changesOf("async function f() { await g(); return 1; }");
    expect(changed).toContain("async function f() { (g()); return 1; }");
    expect(changed).toContain("async function f() { await g(); return undefined as never; }");
  });
});

test("a sample is determined by its seed", () => {
  const numbers = Array.from({ length: 100 }, (_, i) => i);
  expect(sample(numbers, 10, 7)).toEqual(sample(numbers, 10, 7));
  expect(sample(numbers, 10, 7)).not.toEqual(sample(numbers, 10, 8));
  expect(new Set(sample(numbers, 200, 7)).size).toBe(100);
});

test("a mutation runs only the tests that may reach its line", () => {
  const coverage = readCoverage(
    "TN:\nSF:src/a.ts\nDA:1,2\nDA:2,0\nDA:3,0\nLF:3\nend_of_record\nSF:src/b.ts\nend_of_record\n",
  );
  expect(mayRun(coverage, "src/a.ts", 1, 1)).toBe(true);
  expect(mayRun(coverage, "src/a.ts", 2, 3)).toBe(false);
  expect(mayRun(coverage, "src/a.ts", 1, 3)).toBe(true);
  // Not in the report: it may have run.
  expect(mayRun(coverage, "src/a.ts", 4, 4)).toBe(true);
  expect(mayRun(coverage, "src/c.ts", 1, 1)).toBe(false);
});
