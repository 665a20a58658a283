/** Text for people: single lines, widths, cuts, times, ids. Pure. `paint.ts` makes text safe for a terminal. */
import { markHidden } from "../../model/text/hidden-characters.ts";

/** In one line, with hidden characters escaped, so that it can be measured. */
export function oneLine(text: string): string {
  return markHidden(text).replace(/\s+/g, " ").trim();
}

export function widthOf(text: string): number {
  return Bun.stringWidth(text);
}

/** The beginning that fits, with an ellipsis if something is cut off. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 1) return width === 1 ? "…" : "";
  let taken = "";
  let used = 0;
  for (const unit of unitsOf(text, width - 1)) {
    const each = widthOf(unit);
    if (used + each > width - 1) break;
    taken += unit;
    used += each;
  }
  return `${taken}…`;
}

/**
 * What a cut leaves whole: a character as people see it. Some scripts join any number of signs into one; a character
 * that is wider than the room comes in pieces, or nothing of it could ever be shown.
 */
function* unitsOf(text: string, room: number): Generator<string> {
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(segment) <= room) yield segment;
    else yield* segment;
  }
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** `5s`, `12m`, `3h`, `4d`: one unit. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `1m 05s`: two units, for durations. */
export function longDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = (number: number) => String(number).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** `02:10` on this machine's clock, with the date unless it is today's. */
export function momentText(time: string, now: number): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const moment = new Date(time);
  const clock = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  if (moment.toDateString() === new Date(now).toDateString()) return clock;
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())} ${clock}`;
}

/** `2026-11-19 02:10:05 +01:00` on this machine's clock. */
export function localTime(time: string): string {
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const moment = new Date(time);
  const ahead = -moment.getTimezoneOffset();
  const zone = `${ahead < 0 ? "-" : "+"}${two(Math.abs(ahead) / 60)}:${two(Math.abs(ahead) % 60)}`;
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${moment.toTimeString().slice(0, 8)} ${zone}`;
}

/** How long ago an ISO time was. */
export function ago(time: string, now: number): string {
  return `${shortDuration(now - Date.parse(time))} ago`;
}

/** The part of an id that people read: the start of a UUID, or the end of an id that starts with a time. */
export function shortId(id: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id)) return id.slice(0, 8);
  return id.length > 14 ? id.slice(-8) : id;
}

/** `1 file`, `2 files`, `2 tries`. */
export function quantity(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${one.replace(/(?<=[^aeiou])y$/, "ie")}s`;
}

/** `a, b, c and 2 more`. */
export function listed(all: readonly string[], most = 3): string {
  const shown = all.slice(0, most).join(", ");
  return all.length > most ? `${shown} and ${all.length - most} more` : shown;
}

/** Wrapped between words; later lines are indented by this many spaces. */
export function wrapped(text: string, width: number, indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer) > width - indent) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}
