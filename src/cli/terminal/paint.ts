/**
 * Colours. A painted text carries marks, not codes, and `terminalText` is the one place where text becomes what a terminal gets: everything
 * that is not such a mark is made safe there. Text of others cannot contain a mark: every process makes up its own.
 */
import { markHidden } from "../../model/hidden-characters.ts";

export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan";
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
/** Digits: a mark has the form of a colour code, so that it counts for nothing where widths are measured. */
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

/** What may be written to a terminal: hidden characters are written out, marks become colour codes, or nothing without colour. */
export function terminalText(text: string, coloured = true): string {
  // The codes are at the odd places: they are what the pattern captures.
  return text
    .replaceAll("\r\n", "\n")
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? markHidden(piece) : coloured ? `\u001b[${piece}m` : ""))
    .join("");
}
