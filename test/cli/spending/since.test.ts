import { expect, test } from "bun:test";
import { sinceOf } from "../../../src/cli/since.ts";

const now = Date.parse("2026-11-18T12:00:00Z");

test("a date without a time is the beginning of that day here, as one with a time is here", () => {
  expect(sinceOf("2026-11-18", now)).toBe(new Date(2026, 10, 18).getTime());
  expect(sinceOf("2026-11-18T09:30", now)).toBe(new Date(2026, 10, 18, 9, 30).getTime());
  expect(sinceOf("2026-11-18T09:30:00Z", now)).toBe(Date.parse("2026-11-18T09:30:00Z"));
});

test.each(["30s", "5m", "2h", "3d", "1w"])("%s is a time before now", (text) => {
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[text.slice(-1)] ?? 0;
  expect(sinceOf(text, now)).toBe(now - Number.parseInt(text, 10) * seconds * 1000);
});

test.each(["soon", "2026-02-30", "2026-13-01", "2026-11-18 later", "1y"])(
  "%s is refused with what is accepted",
  (text) => {
    expect(() => sinceOf(text, now, "--until")).toThrow(
      /^--until takes a time such as 30m, 2h, 3d or 1w, or a date such as/,
    );
  },
);
