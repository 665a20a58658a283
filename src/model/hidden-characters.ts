/**
 * Characters that a reader does not see or that change what is seen: control characters, marks of text direction, zero-width characters. A
 * text of an agent, a repository or another program is shown with each of them written out, as `<U+202E>`. Line ends and tabs stay, and so
 * do the joiners that emoji, Arabic and Indic scripts are written with. Pure.
 */

const EMOJI_JOINER = String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})`;
const EMOJI_STYLE = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)`;
const JOINED_SCRIPTS = ["Arab", "Deva", "Beng", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Sinh", "Taml", "Telu"];
const JOINED = JOINED_SCRIPTS.map((script) => `\\p{Script=${script}}`).join("");
const SCRIPT_JOINER = String.raw`(?<=[${JOINED}])[\u200c\u200d](?=[${JOINED}])`;
const HIDDEN = String.raw`[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]`;

const SHOWN_AS_MARK = new RegExp(String.raw`(?!${EMOJI_JOINER}|${EMOJI_STYLE}|${SCRIPT_JOINER}|[\n\t])${HIDDEN}`, "gu");
const ANY_HIDDEN = new RegExp(`(?!\\n)${HIDDEN}`, "gu");

/** The text with a visible mark in the place of each hidden character. Doing it twice changes nothing more. */
export function markHidden(text: string): string {
  return text.replace(SHOWN_AS_MARK, (character) => `<U+${hexOf(character.codePointAt(0) ?? 0)}>`);
}

/** A JSON document that means the same and has no hidden character in it but its own line ends. */
export function escapeHidden(json: string): string {
  return json.replace(ANY_HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hexOf(character.charCodeAt(at)).toLowerCase()}`).join(""),
  );
}

function hexOf(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}
