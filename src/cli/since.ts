/** Reads the values of `--since` and `--until`. Pure. */
import { AsyncAgentsError } from "../model/errors.ts";

/** A duration before now, or a date. */
export function sinceOf(text: string | undefined, now: number, option = "--since"): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(text) ?? [];
  if (number !== undefined) {
    return now - Number(number) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as "s"];
  }
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new AsyncAgentsError(
    "invalid_input",
    `${option} takes a time such as 30m, 2h or 3d, or a date, not "${text}".`,
  );
}
