import { expect, test } from "bun:test";
import { isTimeZone, quietUntil } from "../../../src/model/notifications/quiet-hours.ts";

const BERLIN = { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" };
const end = (quiet: typeof BERLIN, at: string) => {
  const until = quietUntil(quiet, Date.parse(at));
  return until === null ? null : new Date(until).toISOString();
};

test.each([
  ["2026-01-10T20:59:59Z", null],
  ["2026-01-10T21:00:00Z", "2026-01-11T06:00:00.000Z"],
  ["2026-01-11T05:59:59Z", "2026-01-11T06:00:00.000Z"],
  ["2026-01-11T06:00:00Z", null],
  ["2026-07-10T20:00:00Z", "2026-07-11T05:00:00.000Z"],
])("a night in Berlin: %s is quiet until %s", (at, until) => {
  expect(end(BERLIN, at)).toBe(until);
});

test.each([
  // The clocks go forward at 01:00 UTC on 29 March 2026, and back at 01:00 UTC on 25 October 2026.
  ["2026-03-28T22:00:00Z", "2026-03-29T05:00:00.000Z"],
  ["2026-10-24T21:00:00Z", "2026-10-25T06:00:00.000Z"],
])("when the clocks change, the end is that of the clock on the wall: %s, %s", (at, until) => {
  expect(end(BERLIN, at)).toBe(until);
});

test("hours within a day, and zones that are not a whole hour away", () => {
  const lunch = { from: "12:00", to: "13:30", timeZone: "Asia/Kolkata" };
  expect(end(lunch, "2026-01-10T06:29:00Z")).toBeNull();
  expect(end(lunch, "2026-01-10T06:30:00Z")).toBe("2026-01-10T08:00:00.000Z");
  expect(end(lunch, "2026-01-10T08:00:00Z")).toBeNull();
});

test("an end that the clocks jump over is the first moment after it", () => {
  // 02:30 does not exist in Berlin on that day.
  expect(end({ ...BERLIN, to: "02:30" }, "2026-03-28T23:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
});

test("names of time zones are those of the runtime", () => {
  expect([isTimeZone("Europe/Berlin"), isTimeZone("UTC"), isTimeZone("Mars/Olympus")]).toEqual([true, true, false]);
});
