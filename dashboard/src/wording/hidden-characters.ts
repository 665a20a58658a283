/**
 * How the page shows invisible characters that change what people see; the model knows which ones those are. A
 * carriage return counts only if it does not end a line. Pure; the mark that represents such a character lives in
 * parts.
 */

import { codePointOf, type FoundCharacter, hiddenCharacters } from "../../../src/model/text/hidden-characters.ts";

const BIDIRECTIONAL = /\p{Bidi_Control}/u;

/** A text of nothing but hidden characters must not become as many elements. */
const MAX_MARKS = 500;

export interface HiddenCharacter {
  /** "U+202E", with the count if it is repeated: "U+200B ×3". */
  code: string;
  /** Its name, for a title. */
  name: string;
}

/**
 * The text in order: visible text as strings, hidden characters as marks. Beyond a limit, marks are part of the
 * strings.
 */
export function piecesOf(text: string): (string | HiddenCharacter)[] {
  const pieces: (string | HiddenCharacter)[] = [];
  let [seen, marks] = ["", 0];
  for (const run of runsOf(text)) {
    if (run.character === null) seen += run.text;
    else if (marks++ >= MAX_MARKS) seen += `[${codeOf(run.character, run.count)}]`;
    else {
      if (seen !== "") pieces.push(seen);
      pieces.push({ code: codeOf(run.character, run.count), name: nameOf(run.character) });
      seen = "";
    }
  }
  if (seen !== "") pieces.push(seen);
  return pieces;
}

/** The same as plain text, for titles, labels and everything else that cannot contain elements. */
export function visibleText(text: string): string {
  return piecesOf(text)
    .map((piece) => (typeof piece === "string" ? piece : `[${piece.code}]`))
    .join("");
}

/** The warning for a line; null if nothing is hidden. */
export function hiddenIn(text: string): "direction" | "invisible" | null {
  const found = [...hiddenOnPage(text)];
  if (found.length === 0) return null;
  return found.some(({ character }) => BIDIRECTIONAL.test(character)) ? "direction" : "invisible";
}

function* hiddenOnPage(text: string): Generator<FoundCharacter> {
  for (const found of hiddenCharacters(text)) {
    const next = text[found.index + 1];
    if (found.character !== "\r" || (next !== undefined && next !== "\n")) yield found;
  }
}

interface Run {
  text: string;
  /** Null for visible text. */
  character: string | null;
  count: number;
}

function* runsOf(text: string): Generator<Run> {
  let end = 0;
  let run: Run | null = null;
  for (const { index, character } of hiddenOnPage(text)) {
    if (run !== null && index === end && run.character === character) run.count++;
    else {
      if (run !== null) yield run;
      if (index > end) yield { text: text.slice(end, index), character: null, count: 1 };
      run = { text: character, character, count: 1 };
    }
    end = index + character.length;
  }
  if (run !== null) yield run;
  if (end < text.length) yield { text: text.slice(end), character: null, count: 1 };
}

function codeOf(character: string, count: number): string {
  const code = codePointOf(character);
  return count === 1 ? code : `${code} ×${count}`;
}

const NAMES: Record<string, string> = {
  "\u061C": "Arabic letter mark",
  "\u200B": "zero-width space",
  "\u200C": "zero-width non-joiner",
  "\u200D": "zero-width joiner",
  "\u200E": "left-to-right mark",
  "\u200F": "right-to-left mark",
  "\u202A": "left-to-right embedding",
  "\u202B": "right-to-left embedding",
  "\u202C": "end of a direction change",
  "\u202D": "left-to-right override",
  "\u202E": "right-to-left override",
  "\u2060": "word joiner",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "end of an isolate",
  "\uFEFF": "byte order mark",
  "\u00AD": "soft hyphen",
  "\u001B": "escape",
  "\r": "carriage return",
};

function nameOf(character: string): string {
  const known = NAMES[character];
  if (known !== undefined) return known;
  if (/\p{Cc}/u.test(character)) return "control character";
  return /[\u{E0000}-\u{E007F}]/u.test(character) ? "tag character" : "invisible character";
}
