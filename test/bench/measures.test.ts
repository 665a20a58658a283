import { expect, test } from "bun:test";
import { judge, measuresOn } from "../../bench/measures.ts";

const trial = (told: number, launchCall: number) => ({ told, launchCall, launchPath: 1 });
const pairs = [{ ours: trial(300, 10), theirs: trial(100, 10) }];

test("the parent is told within its limit in the TUI; headless it is only shown", () => {
  const verdicts = (mode: "tui" | "serve") => measuresOn(mode).map((measure) => judge(measure, pairs).passed);
  expect(verdicts("tui")).toEqual([true, null, false]);
  expect(verdicts("serve")).toEqual([true, null, null]);
});

test("the launching call has its limit in both", () => {
  const slow = [{ ours: trial(1, 13), theirs: trial(1, 10) }];
  for (const mode of ["tui", "serve"] as const) {
    const [launchCall] = measuresOn(mode);
    expect(launchCall && judge(launchCall, slow).passed).toBe(false);
  }
});
