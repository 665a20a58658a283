/**
 * The patterns of OpenCode's permission rules: `*` matches any text, `?` any character, and a trailing ` *` is optional
 * ("git *" matches "git"). Tells how two patterns relate. Pure.
 */

/** Whether the first pattern matches everything that the second one matches; false if that is uncertain. */
export function covers(outer: string, inner: string): boolean {
  if (outer === "*" || outer === inner) return true;
  if (beginApart(outer, inner)) return false;
  return formsOf(inner).every((part) => formsOf(outer).some((whole) => coversForm(whole, part)));
}

/** Whether some text matches both. */
export function overlaps(one: string, other: string): boolean {
  if (one === "*" || other === "*" || one === other) return true;
  if (beginApart(one, other)) return false;
  return formsOf(one).some((left) => formsOf(other).some((right) => overlapsForm(left, right)));
}

/** A cheap check that avoids most comparisons: the texts before the first wildcards differ. */
function beginApart(one: string, other: string): boolean {
  for (let at = 0; at < one.length && at < other.length; at++) {
    const [left, right] = [one[at], other[at]];
    if (left === "*" || left === "?" || right === "*" || right === "?" || left === "\\" || right === "\\") return false;
    if (left !== right) return true;
  }
  return false;
}

function formsOf(pattern: string): string[] {
  const plain = pattern.replaceAll("\\", "/");
  return plain.endsWith(" *") ? [plain, plain.slice(0, -2)] : [plain];
}

/** A star of the inner pattern stands for any text, so only a star of the outer pattern covers it. */
function coversForm(outer: string, inner: string): boolean {
  return walk(outer, inner, (at, to) => {
    const [left, right] = [outer[at], inner[to]];
    const next: [number, number][] = [];
    if (left === "*") next.push([at + 1, to]);
    if (left === "*" && right !== undefined) next.push([at, to + 1]);
    const isOne = right !== undefined && right !== "*" && (left === "?" || left === right);
    if (isOne) next.push([at + 1, to + 1]);
    return next;
  });
}

function overlapsForm(one: string, other: string): boolean {
  return walk(one, other, (at, to) => {
    const [left, right] = [one[at], other[to]];
    const next: [number, number][] = [];
    if (left === "*") next.push([at + 1, to]);
    if (right === "*") next.push([at, to + 1]);
    if (left === "*" && right !== undefined) next.push([at, to + 1]);
    if (right === "*" && left !== undefined) next.push([at + 1, to]);
    const isSame = left === right || left === "?" || right === "?";
    if (left !== undefined && right !== undefined && isSame) next.push([at + 1, to + 1]);
    return next;
  });
}

/** Whether the steps lead from the start of both patterns to the end of both. */
function walk(one: string, other: string, steps: (at: number, to: number) => [number, number][]): boolean {
  const width = other.length + 1;
  const seen = new Set<number>();
  const open: [number, number][] = [[0, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, to] = next;
    if (at === one.length && to === other.length) return true;
    if (at > one.length || to > other.length || seen.has(at * width + to)) continue;
    seen.add(at * width + to);
    open.push(...steps(at, to));
  }
  return false;
}
