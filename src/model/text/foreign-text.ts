/**
 * Quotes text that an agent, a provider or a repository wrote, so that a model can read it among our own words. Quoted
 * text can neither end its quote (it does not know the mark) nor start a line of ours. Pure: the caller generates the
 * marks.
 */
import { markHidden } from "./hidden-characters.ts";

/** Generates a mark that nobody can predict. */
export type NewMark = () => string;

/** The unchanged text between two lines of ours that carry the same mark, which does not occur in the text. */
export function framed(title: string, text: string, newMark: NewMark): string {
  let mark = newMark();
  while (text.includes(mark)) mark = newMark();
  return `--- ${title}, quoted until [${mark}] ---\n${text}\n--- end of quote [${mark}] ---`;
}

/** The text as a single line of at most `limit` characters, with hidden characters spelled out. */
export function asLine(text: string, limit: number): string {
  const spaced = text.replaceAll(/\s+/g, " ").trim();
  const line = markHidden(spaced.slice(0, limit + 1));
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}
