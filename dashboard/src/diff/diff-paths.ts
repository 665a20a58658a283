/**
 * Parses the paths in a diff, which git quotes when they contain anything unusual: escapes for single characters, and
 * bytes in octal. Pure.
 */

const QUOTED = /^"((?:[^"\\]|\\.)*)"/;
const SIGNS: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

export function pathIn(text: string): string {
  const [, quoted] = QUOTED.exec(text) ?? [];
  // Git ends a name that contains blanks with a tab.
  return quoted === undefined ? text.replace(/\t$/, "") : unquoted(quoted);
}

/**
 * From "diff --git a/x b/y". Unquoted, blanks make it ambiguous; but then both paths are the same, or a rename line
 * follows.
 */
export function pathsOfHead(head: string): { before: string; after: string } {
  const rest = head.slice("diff --git ".length);
  const [whole] = QUOTED.exec(rest) ?? [];
  const split = whole === undefined ? unquotedSplit(rest) : whole.length;
  return { before: bare(pathIn(rest.slice(0, split))), after: bare(pathIn(rest.slice(split + 1))) };
}

function unquotedSplit(rest: string): number {
  const middle = (rest.length - 1) / 2;
  const isSame = rest[middle] === " " && bare(rest.slice(0, middle)) === bare(rest.slice(middle + 1));
  return isSame ? middle : Math.max(rest.indexOf(' "b/'), rest.indexOf(" b/"));
}

function bare(path: string): string {
  return path.replace(/^[ab]\//, "");
}

function unquoted(text: string): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part, octal, sign] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(...encoder.encode(sign === undefined ? part : (SIGNS[sign] ?? sign)));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
