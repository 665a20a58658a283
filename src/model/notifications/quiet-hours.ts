/**
 * Quiet hours: a time of the day, in a named time zone, in which nobody is disturbed. They may pass midnight. Pure: the
 * rules of time zones, with summer time, are those of the runtime.
 */

export interface QuietHours {
  /** `22:00`. */
  from: string;
  to: string;
  /** Such as `Europe/Berlin`. */
  timeZone: string;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Null if the time is not in the quiet hours; otherwise when they end. */
export function quietUntil(quiet: QuietHours, at: number): number | null {
  if (!isQuiet(quiet, at)) return null;
  const local = minuteOfDay(at, quiet.timeZone);
  const wait = (minutesOf(quiet.to) - local + DAY_MINUTES) % DAY_MINUTES;
  const end = Math.floor(at / MINUTE_MS) * MINUTE_MS + wait * MINUTE_MS;
  // When the clocks change in between, the end is up to an hour earlier or later.
  for (let minutes = -120; minutes < 0; minutes++) {
    const earlier = end + minutes * MINUTE_MS;
    if (earlier > at && !isQuiet(quiet, earlier)) return earlier;
  }
  for (let minutes = 0; minutes <= 120; minutes++) {
    const later = end + minutes * MINUTE_MS;
    if (!isQuiet(quiet, later)) return later;
  }
  return end;
}

function isQuiet({ from, to, timeZone }: QuietHours, at: number): boolean {
  const [begin, end, now] = [minutesOf(from), minutesOf(to), minuteOfDay(at, timeZone)];
  return begin <= end ? now >= begin && now < end : now >= begin || now < end;
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

function minuteOfDay(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return minutesOf(format.format(at));
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
