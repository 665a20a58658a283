/**
 * Which entries match what was typed: all words must be in the label, in any order and without regard to case; labels
 * that begin with the text come first. Pure.
 */

export function matching<Entry extends { label: string }>(entries: readonly Entry[], text: string): Entry[] {
  const typed = text.trim().toLowerCase();
  const words = typed.split(/\s+/).filter((word) => word !== "");
  const found = entries.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const isFirst = ({ label }: Entry) => label.toLowerCase().startsWith(typed);
  return [...found.filter(isFirst), ...found.filter((entry) => !isFirst(entry))];
}
