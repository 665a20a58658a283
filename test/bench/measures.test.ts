import { expect, test } from "bun:test";
import { judge, measures } from "../../bench/measures.ts";

const pair = (ours: number) => ({
  ours: { launchCall: ours, launchPath: ours, told: ours },
  theirs: { launchCall: 100, launchPath: 100, told: 100 },
});

function verdicts(ours: number) {
  return Object.fromEntries(measures.map((measure) => [measure.key, judge(measure, [pair(ours), pair(ours)]).passed]));
}

test("the launching call and telling the parent have their limit, the path to the next request is only shown", () => {
  expect(verdicts(119)).toEqual({ launchCall: true, launchPath: null, told: true });
  expect(verdicts(121)).toEqual({ launchCall: false, launchPath: null, told: false });
});
