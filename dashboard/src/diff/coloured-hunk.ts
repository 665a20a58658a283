/**
 * Gives each line of a hunk its coloured words. The text before and the text after are coloured each as a whole, so that
 * what spans lines (comments, texts) keeps its colour. What is too large is left plain.
 */
import type { Highlighter, Token } from "../code/highlighter.ts";
import type { Hunk } from "./parse-diff.ts";

const MOST_CHARACTERS = 100_000;
const LONGEST_LINE = 1000;

/** One entry for each line; null: plain. */
export function colouredHunk(highlighter: Highlighter | null, hunk: Hunk, path: string): (Token[] | null)[] {
  const plain = hunk.lines.map(() => null);
  const language = highlighter?.languageOf(path) ?? null;
  const size = hunk.lines.reduce((sum, { text }) => sum + text.length, 0);
  if (!highlighter || language === null || size > MOST_CHARACTERS) return plain;
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
