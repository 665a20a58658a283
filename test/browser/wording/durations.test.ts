import { expect, test } from "bun:test";
import { durationText, relativeText } from "../../../dashboard/src/wording/durations.ts";
import { longDuration, shortDuration } from "../../../src/cli/terminal/text.ts";
import { durationText as noticeText } from "../../../src/opencode/duration.ts";

test("a run took equally long on the dashboard, on the command line and in its notice", () => {
  for (const ms of [1499, 1500, 3720, 8650, 59_499, 59_500, 119_700, 3_599_600]) {
    expect(durationText(ms)).toBe(longDuration(ms));
    if (ms < 59_500) expect(durationText(ms)).toBe(noticeText(ms));
  }
});

test("what started 12.6 s ago has been running for as long", () => {
  const at = "2026-01-01T00:00:00.000Z";
  for (const ms of [12_600, 59_400, 59_600, 3_599_400]) {
    expect(relativeText(at, Date.parse(at) + ms)).toBe(`${shortDuration(ms)} ago`);
  }
});
