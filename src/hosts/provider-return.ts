/**
 * When a provider said that it will be back: read from the headers of a refusal, as providers send them. Pure; shared
 * by the hosts. Answers nothing for refusals that waiting does not help.
 */

/** Too many requests, unavailable, overloaded. */
const PASSING = new Set([429, 503, 529]);
/** In seconds, or a date. */
const AFTER = ["retry-after", "x-ratelimit-reset", "ratelimit-reset"];
/** One for each limit. Which of them is used up is not said: the latest counts. */
const RESETS = /^(anthropic-ratelimit-.+-reset|x-ratelimit-reset-.+)$/;
/** More seconds than this are a time since the epoch. */
const EPOCH_SECONDS = 1e9;
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface Refusal {
  status: number | undefined;
  headers: Readonly<Record<string, string | undefined>>;
  /** When it came: relative times count from then. */
  at: number;
}

/** Milliseconds since the epoch. Undefined if the provider did not say, or said a time that had passed by then. */
export function providerReturn({ status, headers, at }: Refusal): number | undefined {
  if (status === undefined || !PASSING.has(status)) return undefined;
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value?.trim() ?? ""] as const);
  const given = new Map(lower);
  const ms = Number.parseFloat(given.get("retry-after-ms") ?? "");
  const isAhead = (time: number | undefined): time is number =>
    time !== undefined && Number.isFinite(time) && time > at;
  // These are meant for whoever was refused; the resets of all limits come with every response.
  const own = [Number.isNaN(ms) ? undefined : at + ms, ...AFTER.map((name) => timeIn(given.get(name) ?? "", at))];
  const resets = lower.flatMap(([name, value]) => (RESETS.test(name) ? [timeIn(value, at)] : []));
  return own.find(isAhead) ?? resets.filter(isAhead).toSorted((one, other) => other - one)[0];
}

function timeIn(text: string, at: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const seconds = Number(text);
    return seconds > EPOCH_SECONDS ? seconds * 1000 : at + seconds * 1000;
  }
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    return at + pieces.reduce((sum, [, amount = "0", unit = "s"]) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
