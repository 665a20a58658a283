/**
 * Colours. A painted text carries marks, not codes, and `terminalText` is the only place where text is made ready for
 * a terminal: everything except such marks is made safe there. Foreign text cannot contain a mark: every process
 * generates its own.
 */
import { markHidden } from "../../model/text/hidden-characters.ts";

type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan";
export type Paint = Readonly<Record<Colour, (text: string) => string>>;

const CODES: Record<Colour, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
};
const COLOURS = Object.keys(CODES) as Colour[];
/** Digits: a mark looks like a colour code, so that it has no width when text is measured. */
const SECRET = crypto.getRandomValues(new Uint32Array(3)).join("");
const MARK = new RegExp(`\\u001b\\[${SECRET};(\\d+)m`);

export const paints = paintWith((text, [on, off]) => `${markOf(on)}${text}${markOf(off)}`);
export const plainPaints = paintWith((text) => text);

function paintWith(apply: (text: string, codes: readonly [number, number]) => string): Paint {
  return Object.fromEntries(
    COLOURS.map((colour) => [colour, (text: string) => (text === "" ? "" : apply(text, CODES[colour]))]),
  ) as Paint;
}

function markOf(code: number): string {
  return `\u001b[${SECRET};${code}m`;
}

/** The text for a terminal: hidden characters are escaped, and marks become colour codes, or nothing without colour. */
export function terminalText(text: string, coloured = true): string {
  // The codes are at the odd indexes: they are what the pattern captures.
  return text
    .replaceAll("\r\n", "\n")
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? markHidden(piece) : coloured ? `\u001b[${piece}m` : ""))
    .join("");
}
