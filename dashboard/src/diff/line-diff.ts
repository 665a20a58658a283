/**
 * The hunk between two texts: their common first and last lines are context, what is between them was replaced.
 * Enough for an edit, which contains little more than what it changes. Pure.
 */
import type { DiffLine, Hunk } from "./parse-diff.ts";

const CONTEXT = 3;

export function hunkBetween(before: string, after: string): Hunk {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const context = (from: number, to: number) => old.slice(from, to).map((text) => line("context", text));
  return {
    around: "",
    lines: [
      ...context(Math.max(0, head - CONTEXT), head),
      ...old.slice(head, old.length - tail).map((text) => line("removed", text)),
      ...now.slice(head, now.length - tail).map((text) => line("added", text)),
      ...context(old.length - tail, Math.min(old.length, old.length - tail + CONTEXT)),
    ],
  };
}

/** Its position in the file is unknown, so it has no line numbers. */
function line(kind: DiffLine["kind"], text: string): DiffLine {
  return { kind, text, before: null, after: null };
}
