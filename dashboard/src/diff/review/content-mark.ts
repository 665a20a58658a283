/**
 * A short text that changes with a file's changes, to notice that. Its first part is git's name of the new content,
 * which nobody can make the same for another content; the rest is a sum of everything that is shown. Pure.
 */
import type { FileDiff } from "../parse-diff.ts";

/** Of git's names: as many digits as nobody finds two contents for. */
const NAME_DIGITS = 32;

const known = new WeakMap<FileDiff, string>();

export function contentMark(file: FileDiff): string {
  const mark = known.get(file) ?? sumOf(file);
  known.set(file, mark);
  return mark;
}

function sumOf(file: FileDiff): string {
  const { from, change, isBinary, versions, insertions, deletions } = file;
  let text = [from, change, isBinary, versions, insertions, deletions].join("\0");
  const names = Array.from(versions.matchAll(/\.\.([0-9a-f]+)/g), ([, name = ""]) => name.slice(0, NAME_DIGITS));
  for (const { lines } of file.hunks)
    for (const line of lines) text += `\n${line.kind[0]}${line.after ?? line.before}${line.text}`;
  // FNV-1a in two halves: enough to notice a change of what git's name does not cover.
  let [one, two] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b);
  }
  return `${names.join("")}${(one >>> 0).toString(36)}${(two >>> 0).toString(36)}`;
}
