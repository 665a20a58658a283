/**
 * Estimates how many bytes a plain JSON value uses in memory. Strings dominate; they are not copied.
 */

const OVERHEAD = 16;

export function sizeOf(value: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    bytes += OVERHEAD;
    if (typeof next === "string") bytes += next.length;
    if (typeof next !== "object" || next === null) continue;
    for (const [name, inside] of Object.entries(next)) {
      bytes += name.length;
      rest.push(inside);
    }
  }
  return bytes;
}
