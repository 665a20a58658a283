import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fullName, parseJunit } from "../../scripts/testing/junit.ts";

/** Runs real tests, so that a Bun with a different report format is noticed here. */
async function report(text: string) {
  const folder = await mkdtemp(join(tmpdir(), "asyncagents-junit-"));
  try {
    await writeFile(join(folder, "sample.test.ts"), text);
    const args = ["test", "./sample.test.ts", "--reporter=junit", "--reporter-outfile=report.xml"];
    const child = Bun.spawn([process.execPath, ...args], { cwd: folder, stdout: "ignore", stderr: "ignore" });
    await child.exited;
    return parseJunit(await Bun.file(join(folder, "report.xml")).text());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("a report of bun test", () => {
  test("is parsed with groups, outcomes and escaped names", async () => {
    const tests = await report(`
      import { describe, expect, test } from "bun:test";
      describe("outer", () => {
        describe("in & out", () => {
          test("passes <b> \\"q\\" [AT-01.1]", () => {});
          test("fails", () => expect(1).toBe(2));
        });
        test.skip("skipped", () => {});
        test.todo("todo");
      });
      let tries = 0;
      test("passes on retry", () => { if (tries++ === 0) throw new Error("first"); }, { retry: 1 });
      test("times out", () => new Promise(() => {}), 20);
      describe("hook", () => {
        test.each([1, 2])("each %d", () => {});
      });
    `);
    const summary = tests.map((result) => `${result.outcome}: ${fullName(result)}`);
    expect(summary).toEqual([
      'passed: outer > in & out > passes <b> "q" [AT-01.1]',
      "failed: outer > in & out > fails",
      "skipped: outer > skipped",
      "skipped: outer > todo",
      "passed: passes on retry",
      "failed: times out",
      "passed: hook > each 1",
      "passed: hook > each 2",
    ]);
    expect(new Set(tests.map(({ file }) => file))).toEqual(new Set(["sample.test.ts"]));
    expect(tests[1]?.message).toBe("expect(received).toBe(expected)");
    expect(tests[5]?.message).toContain("timed out");
  });

  test("without tests is empty", () => {
    expect(parseJunit('<?xml version="1.0"?><testsuites name="bun test" tests="0"></testsuites>')).toEqual([]);
  });
});
