import { expect, test } from "bun:test";
import type { Mode } from "../../bench/opencode/bed.ts";
import { judge, measuresOf } from "../../bench/opencode/measures.ts";

const pair = (ours: number) => ({
  ours: { launchCall: ours, launchPath: ours, told: ours },
  theirs: { launchCall: 100, launchPath: 100, told: 100 },
});

function verdicts(mode: Mode, ours: number) {
  const judged = measuresOf(mode).map((measure) => judge(measure, [pair(ours), pair(ours)]));
  return Object.fromEntries(judged.map(({ key, passed }) => [key, passed]));
}

test("the launching call, the path to the next request and the parent's notification have a limit", () => {
  expect(verdicts("tui", 119)).toEqual({ launchCall: true, launchPath: true, told: true });
  expect(verdicts("tui", 121)).toEqual({ launchCall: false, launchPath: false, told: false });
});

test("over HTTP notifying the parent may take longer, up to its own limit", () => {
  expect(verdicts("serve", 219)).toEqual({ launchCall: false, launchPath: false, told: true });
  expect(verdicts("serve", 221)).toEqual({ launchCall: false, launchPath: false, told: false });
});
