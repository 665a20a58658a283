/**
 * The loaded part of a conversation: its newest page and the pages before it. A newer answer replaces what it
 * overlaps; if it does not reach back to what is loaded, it replaces everything and the rest can be loaded again.
 */
import type { LogPage } from "../../../src/client/client.ts";

/** Whether there is no gap between the known messages and a newer answer. */
export function reaches(newer: LogPage, known: LogPage): boolean {
  const first = newer.messages[0];
  return first !== undefined && known.messages.some((message) => message.id === first.id);
}

export function withNewest(known: LogPage | undefined, newest: LogPage): LogPage {
  const first = newest.messages[0];
  const overlap = known && first ? known.messages.findIndex((message) => message.id === first.id) : -1;
  if (!known || overlap === -1) return newest;
  return {
    messages: [...known.messages.slice(0, overlap), ...newest.messages],
    before: overlap === 0 ? newest.before : known.before,
  };
}

export function withEarlier(known: LogPage, earlier: LogPage): LogPage {
  const ids = new Set(known.messages.map((message) => message.id));
  return {
    messages: [...earlier.messages.filter((message) => !ids.has(message.id)), ...known.messages],
    before: earlier.before,
  };
}
