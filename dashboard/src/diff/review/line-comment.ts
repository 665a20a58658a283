/**
 * A comment on a line of a diff, and which line it is about. Pure.
 */
import type { DiffLine } from "../parse-diff.ts";

const QUOTE_CHARS = 300;

export interface LineComment {
  repo: string;
  path: string;
  /** Whether the line is that of the old or of the new file. */
  side: "before" | "after";
  line: number;
  /** The line as it was when the comment was made, cut. */
  quote: string;
  text: string;
}

/** Where a line is; null if it cannot be commented on. */
export function placeOf({ kind, before, after }: DiffLine): Pick<LineComment, "side" | "line"> | null {
  if (kind === "note") return null;
  if (after !== null) return { side: "after", line: after };
  return before === null ? null : { side: "before", line: before };
}

export function isAt(comment: LineComment, line: DiffLine): boolean {
  const place = placeOf(line);
  return comment.side === place?.side && comment.line === place.line && comment.quote === quoteOf(line);
}

export function quoteOf({ text }: DiffLine): string {
  return text.slice(0, QUOTE_CHARS);
}
