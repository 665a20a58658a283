/**
 * Highlights each line of a hunk. The old and the new text are each highlighted as a whole, so that tokens spanning
 * several lines (comments, strings) keep their colour. Hunks that are too large stay plain.
 */
import type { Highlighter, Token } from "../code/highlighter.ts";
import type { Hunk } from "./parse-diff.ts";

const MAX_CHARACTERS = 100_000;
const LONGEST_LINE = 1000;

/** One entry per line; null means plain. */
export function colouredHunk(highlighter: Highlighter | null, hunk: Hunk, path: string): (Token[] | null)[] {
  const plain = hunk.lines.map(() => null);
  const language = highlighter?.languageOf(path) ?? null;
  const size = hunk.lines.reduce((sum, { text }) => sum + text.length, 0);
  if (!highlighter || language === null || size > MAX_CHARACTERS) return plain;
  if (hunk.lines.some(({ text }) => text.length > LONGEST_LINE)) return plain;
  const side = (other: "added" | "removed") => {
    const lines = hunk.lines.filter(({ kind }) => kind !== other && kind !== "note");
    return highlighter.tokenLines(lines.map(({ text }) => text).join("\n"), language).values();
  };
  const [before, after] = [side("added"), side("removed")];
  return hunk.lines.map(({ kind }) => {
    if (kind === "note") return null;
    const old = kind === "added" ? null : (before.next().value ?? null);
    return kind === "removed" ? old : (after.next().value ?? null);
  });
}
