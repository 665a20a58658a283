/**
 * Texts that an agent, a provider or a repository wrote, ready to stand among our own words where a model reads them. Such a
 * text can neither end its frame (it does not know the mark) nor begin a line of ours. Pure: marks are made by the caller.
 */
import { markHidden } from "./hidden-characters.ts";

/** Makes a mark that nobody can know beforehand. */
export type NewMark = () => string;

/** The text as it is between two lines of ours with the same mark, which does not occur in it. */
export function framed(title: string, text: string, newMark: NewMark): string {
  let mark = newMark();
  while (text.includes(mark)) mark = newMark();
  return `--- ${title}, quoted until [${mark}] ---\n${text}\n--- end of quote [${mark}] ---`;
}

/** The text as one line, at most `limit` characters, with hidden characters written out. */
export function asLine(text: string, limit: number): string {
  const spaced = text.replaceAll(/\s+/g, " ").trim();
  const line = markHidden(spaced.slice(0, limit + 1));
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}
