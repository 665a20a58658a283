/**
 * Reads which lines a test file ran from the lcov coverage report of `bun test`. A line missing from the report
 * counts as run: one test too many is better than one too few.
 */

/** How often each line ran, by file path. */
export type Coverage = Map<string, Map<number, number>>;

export function readCoverage(lcov: string): Coverage {
  const coverage: Coverage = new Map();
  let lines = new Map<number, number>();
  for (const record of lcov.split("\n")) {
    if (record.startsWith("SF:")) {
      lines = new Map();
      coverage.set(record.slice("SF:".length), lines);
    } else if (record.startsWith("DA:")) {
      const [line, count] = record.slice("DA:".length).split(",").map(Number);
      lines.set(line ?? 0, count ?? 0);
    }
  }
  return coverage;
}

/** Whether one of these lines of the file may have run. */
export function mayRun(coverage: Coverage, path: string, first: number, last: number): boolean {
  const lines = coverage.get(path);
  if (!lines) return false;
  const counts: number[] = [];
  for (let line = first; line <= last; line++) {
    const count = lines.get(line);
    if (count !== undefined) counts.push(count);
  }
  return counts.length === 0 || counts.some((count) => count > 0);
}
