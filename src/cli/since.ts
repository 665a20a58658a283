/** Reads the values of `--since` and `--until`. Pure. */
import { AsyncAgentsError } from "../model/errors.ts";

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A duration before now, or a date: without a time, the beginning of that day here. */
export function sinceOf(text: string | undefined, now: number, option = "--since"): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,6})(s|m|h|d|w)$/.exec(text) ?? [];
  if (number !== undefined) return now - Number(number) * UNITS[unit as keyof typeof UNITS];
  const [, date, rest] = /^(\d{4}-\d\d-\d\d)(.*)$/.exec(text) ?? [];
  const time = isDate(date) ? Date.parse(rest === "" ? `${date}T00:00` : text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new AsyncAgentsError(
    "invalid_input",
    `${option} takes a time such as 30m, 2h, 3d or 1w, or a date such as 2026-11-18 or 2026-11-18T09:30, not "${text}".`,
  );
}

/** JavaScript takes the 30th of February for the 2nd of March. */
function isDate(text: string | undefined): boolean {
  const time = Date.parse(text ?? "");
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text ?? "");
}
