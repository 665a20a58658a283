/** The keys of a scrolling screen, as terminals send them, and their effects. Pure. */

/** Longer than any list. */
const ALL = 1_000_000;
const ESCAPE = "\u001b";
/** A key is an escape sequence, or one character. */
const KEY = new RegExp(`${ESCAPE}\\[[\\d;]*[A-Za-z~]|${ESCAPE}O[A-Z]|.`, "gsu");
const QUIT = ["q", "Q", "\u0003", ESCAPE];

const DOWN = ["j", `${ESCAPE}[B`, `${ESCAPE}OB`, "\r", "\n"];
const UP = ["k", `${ESCAPE}[A`, `${ESCAPE}OA`];
const PAGE_DOWN = [" ", "f", "\u0006", `${ESCAPE}[6~`];
const PAGE_UP = ["b", "\u0002", `${ESCAPE}[5~`];
const FIRST = ["g", `${ESCAPE}[H`, `${ESCAPE}OH`, `${ESCAPE}[1~`];
const LAST = ["G", `${ESCAPE}[F`, `${ESCAPE}OF`, `${ESCAPE}[4~`];

/** Keys pressed quickly arrive together. */
export function keysOf(data: string): string[] {
  return data.match(KEY) ?? [];
}

export function isQuit(key: string): boolean {
  return QUIT.includes(key);
}

/** The number of lines it scrolls, down or (negative) up; 0 for any other key. */
export function scrollOf(key: string, page: number): number {
  if (DOWN.includes(key)) return 1;
  if (UP.includes(key)) return -1;
  if (PAGE_DOWN.includes(key)) return page;
  if (PAGE_UP.includes(key)) return -page;
  if (FIRST.includes(key)) return -ALL;
  return LAST.includes(key) ? ALL : 0;
}
