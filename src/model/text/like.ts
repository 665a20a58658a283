/**
 * Compares texts with patterns in which `*` stands for any characters. Takes time in proportion to the text: agents
 * choose the texts, and a regular expression with several stars would keep the process busy for hours. Pure.
 */

export function isLike(text: string, pattern = "*"): boolean {
  return fits(text, pattern, null);
}

/** The same with a star that stands for none of these characters. `excluded` is a set of characters, with no flags. */
export function isLikeWithout(text: string, pattern: string, excluded: RegExp): boolean {
  return fits(text, pattern, excluded);
}

/**
 * Takes the first place of each part. A later one would help only if the star behind it could not stand for what is in
 * between; but then the star before it could not either.
 */
function fits(text: string, pattern: string, excluded: RegExp | null): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  const isStar = (from: number, to: number) => from <= to && !excluded?.test(text.slice(from, to));
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1 || !isStar(at, found)) return false;
    at = found + part.length;
  }
  return text.endsWith(last) && isStar(at, text.length - last.length);
}
