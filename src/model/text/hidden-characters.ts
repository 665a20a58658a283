/**
 * Characters that are invisible or change how text is displayed: control characters, direction marks, zero-width
 * characters. In text from an agent, a repository or another program each of them is shown as a code, such as
 * `<U+202E>`. Line feeds and tabs are kept, and so are the joiners that emoji, Arabic and Indic scripts need. Pure.
 */

/** Everything invisible except tabs and line feeds. */
const HIDDEN = String.raw`(?![\t\n])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]`;

const PICTOGRAM = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`;
/** Scripts whose ordinary spelling uses U+200C and U+200D. */
const JOINING_SCRIPTS = [
  "Arabic",
  "Syriac",
  "Devanagari",
  "Bengali",
  "Gujarati",
  "Gurmukhi",
  "Kannada",
  "Malayalam",
  "Oriya",
  "Sinhala",
  "Tamil",
  "Telugu",
  "Khmer",
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

export interface FoundCharacter {
  index: number;
  character: string;
}

/** Yields the hidden characters of a text in order. */
export function* hiddenCharacters(text: string): Generator<FoundCharacter> {
  // Most texts have none, and the full pattern is slow on them.
  if (!ANY.test(text)) return;
  for (const { index, 1: character } of text.matchAll(FIND)) if (character !== undefined) yield { index, character };
}

/** The text with a visible code in place of each hidden character. Idempotent. */
export function markHidden(text: string): string {
  if (!ANY.test(text)) return text;
  return text.replace(FIND, (match, character: string | undefined) =>
    character === undefined ? match : `<${codePointOf(character)}>`,
  );
}

/** An equivalent JSON document without hidden characters, apart from its line feeds. */
export function escapeHidden(json: string): string {
  return json.replace(ANY_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hexOf(character.charCodeAt(at)).toLowerCase()}`).join(""),
  );
}

/** For example `U+202E`. */
export function codePointOf(character: string): string {
  return `U+${hexOf(character.codePointAt(0) ?? 0)}`;
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}
