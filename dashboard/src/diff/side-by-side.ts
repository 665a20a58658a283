/**
 * The lines of a hunk as pairs for two columns: old on the left, new on the right. Removed lines are paired with the
 * added ones that follow them, in their order. Pure.
 */
import type { DiffLine, Hunk } from "./parse-diff.ts";

/** The position of a line in its hunk, or null where the other side has no counterpart. */
export interface LinePair {
  left: number | null;
  right: number | null;
}

export function linePairs({ lines }: Hunk): LinePair[] {
  const pairs: LinePair[] = [];
  let removed: number[] = [];
  let added: number[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
    }
    [removed, added] = [[], []];
  };
  lines.forEach(({ kind }: DiffLine, index) => {
    if (kind === "added") added.push(index);
    else if (kind === "removed") {
      if (added.length > 0) flush();
      removed.push(index);
    } else {
      flush();
      pairs.push({ left: index, right: index });
    }
  });
  flush();
  return pairs;
}
