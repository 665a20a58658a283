/**
 * Formats durations and moments for people, rounded to seconds as in notices and on the command line, so that a run
 * took equally long everywhere. Pure: the current time is passed in.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function wholeSeconds(milliseconds: number): number {
  return Math.round(milliseconds / SECOND) * SECOND;
}

/** "42s", "3m 05s", "2h 14m", "3d 4h": at most two units, with a steady width while it ticks. */
export function durationText(milliseconds: number): string {
  const span = Math.max(0, wholeSeconds(milliseconds));
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m ${two((span % MINUTE) / SECOND)}s`;
  if (span < DAY) return `${Math.floor(span / HOUR)}h ${two((span % HOUR) / MINUTE)}m`;
  return `${Math.floor(span / DAY)}d ${Math.floor((span % DAY) / HOUR)}h`;
}

/** Like durationText, with milliseconds and tenths where they matter: for tool calls. */
export function fineDurationText(milliseconds: number): string {
  if (milliseconds < SECOND) return `${Math.max(0, Math.round(milliseconds))} ms`;
  return milliseconds < 10 * SECOND ? `${(milliseconds / SECOND).toFixed(1)}s` : durationText(milliseconds);
}

/** The shortest exact form, for axes: "0", "30s", "5m", "1h 30m". */
export function axisText(milliseconds: number): string {
  const units = [
    ["d", Math.floor(milliseconds / DAY)],
    ["h", Math.floor((milliseconds % DAY) / HOUR)],
    ["m", Math.floor((milliseconds % HOUR) / MINUTE)],
    ["s", Math.floor((milliseconds % MINUTE) / SECOND)],
  ] as const;
  const told = units.filter(([, value]) => value > 0).map(([unit, value]) => `${value}${unit}`);
  if (told.length > 0) return told.join(" ");
  return milliseconds > 0 ? `${milliseconds} ms` : "0";
}

export function relativeText(at: string, now: number): string {
  const age = wholeSeconds(now - Date.parse(at));
  if (age < 10 * SECOND) return "just now";
  if (age < MINUTE) return `${Math.floor(age / SECOND)}s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)}m ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)}h ago`;
  if (age < 14 * DAY) return `${Math.floor(age / DAY)}d ago`;
  return new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { weekday: "short" });

/** "02:10", and the day of the week unless it is today's. */
export function momentText(at: string, today = new Date()): string {
  const moment = new Date(at);
  const isToday = moment.toDateString() === today.toDateString();
  return isToday ? minutes.format(moment) : `${days.format(moment)} ${minutes.format(moment)}`;
}

export function exactText(at: string): string {
  return exact.format(new Date(at));
}

export function clockText(at: string): string {
  return clock.format(new Date(at));
}
