/**
 * Characters that a reader does not see or that change what is seen: control characters, marks of text direction, zero-width characters. A
 * text of an agent, a repository or another program is shown with each of them written out, as `<U+202E>`. Line ends and tabs stay, and so
 * do the joiners that emoji, Arabic and Indic scripts are written with. Pure.
 */

/** Everything invisible but tabs and line feeds. */
const HIDDEN = String.raw`(?![\t\n])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]`;

const PICTOGRAM = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`;
/** Scripts in which U+200C and U+200D are ordinary spelling. */
const JOINING_SCRIPTS = [
  ...["Arabic", "Syriac", "Devanagari", "Bengali", "Gujarati", "Gurmukhi", "Kannada"],
  ...["Malayalam", "Oriya", "Sinhala", "Tamil", "Telugu", "Khmer"],
];
const JOINING = `[${JOINING_SCRIPTS.map((script) => `\\p{Script=${script}}`).join("")}]`;
const LEGITIMATE = [
  String.raw`\u{1f3f4}[\u{e0030}-\u{e007a}]{2,6}\u{e007f}`,
  String.raw`${PICTOGRAM}(?:\u200d${PICTOGRAM})*`,
  String.raw`[#*0-9]\ufe0f\u20e3`,
  String.raw`(?<=${JOINING})[\u200c\u200d](?=${JOINING})`,
].join("|");

const FIND = new RegExp(`${LEGITIMATE}|(${HIDDEN})`, "gu");
const ANY = new RegExp(HIDDEN, "u");
const ANY_IN_JSON = new RegExp(String.raw`\t|${HIDDEN}`, "gu");

export interface Found {
  index: number;
  character: string;
}

/** The hidden characters of a text, in order. */
export function* hiddenCharacters(text: string): Generator<Found> {
  // Most texts have none, and the longer pattern is slow on them.
  if (!ANY.test(text)) return;
  for (const { index, 1: character } of text.matchAll(FIND)) if (character !== undefined) yield { index, character };
}

/** The text with a visible mark in the place of each hidden character. Doing it twice changes nothing more. */
export function markHidden(text: string): string {
  if (!ANY.test(text)) return text;
  return text.replace(FIND, (match, character: string | undefined) =>
    character === undefined ? match : `<${codePointOf(character)}>`,
  );
}

/** A JSON document that means the same and has no hidden character in it but its own line ends. */
export function escapeHidden(json: string): string {
  return json.replace(ANY_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hexOf(character.charCodeAt(at)).toLowerCase()}`).join(""),
  );
}

/** `U+202E`. */
export function codePointOf(character: string): string {
  return `U+${hexOf(character.codePointAt(0) ?? 0)}`;
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}
