/** Finds the known word that a mistyped one probably means, for "Did you mean …?". Knows no words itself. Pure. */

/** One letter added, removed or replaced, or two swapped. */
export function isNear(name: string, typed: string): boolean {
  if (typed.length < 2 || Math.abs(name.length - typed.length) > 1) return false;
  const sorted = (word: string) => [...word].sort().join("");
  if (sorted(name) === sorted(typed)) return true;
  const start = [...name].findIndex((letter, index) => letter !== typed[index]);
  const from = start === -1 ? name.length : start;
  const [longer, shorter] = name.length >= typed.length ? [name, typed] : [typed, name];
  return longer.slice(from + 1) === shorter.slice(longer.length === shorter.length ? from + 1 : from);
}

/** The known word that differs by one letter, or only in case, hyphens and underscores. */
export function nearestOf(names: readonly string[], typed: string): string | undefined {
  const plain = (word: string) => word.replace(/[-_.\s]/g, "").toLowerCase();
  return names.find((name) => plain(name) === plain(typed)) ?? names.find((name) => isNear(plain(name), plain(typed)));
}
