/**
 * A short sum of everything that is shown of a file, to notice that it changed. Pure.
 */
import type { FileDiff } from "../parse-diff.ts";

const known = new WeakMap<FileDiff, string>();

export function contentMark(file: FileDiff): string {
  const mark = known.get(file) ?? sumOf(file);
  known.set(file, mark);
  return mark;
}

function sumOf(file: FileDiff): string {
  const { from, change, isBinary, insertions, deletions } = file;
  let text = [from, change, isBinary, insertions, deletions].join("\0");
  for (const { lines } of file.hunks)
    for (const line of lines) text += `\n${line.kind[0]}${line.after ?? line.before}${line.text}`;
  // FNV-1a in two halves: enough to notice a change, and not a secret.
  let [one, two] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b);
  }
  return `${(one >>> 0).toString(36)}${(two >>> 0).toString(36)}`;
}
