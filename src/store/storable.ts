/**
 * What every database can store: text without NUL and without unpaired surrogates, and values that survive JSON. An
 * event is made storable before it is applied, so that replaying the stored events gives exactly the stored task.
 */
import type { TaskEvent } from "../model/events.ts";

export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\uFFFD") : whole;
}

/** The event as it will be read back, and its JSON. */
export function storableEvent(event: TaskEvent): { event: TaskEvent; json: string } {
  const json = JSON.stringify(event, (_key, value) => (typeof value === "string" ? storableText(value) : value));
  // Tool names are object keys, which the replacer does not see; a remaining escape can only come from one.
  const clean = /\\u(0000|d[89a-f])/i.test(json) ? JSON.stringify(storableKeys(JSON.parse(json))) : json;
  return { event: JSON.parse(clean) as TaskEvent, json: clean };
}

function storableKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storableKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), storableKeys(inner)]));
}
