/**
 * Splits test files over lanes, which run at the same time, so that the lanes end at about the same time.
 * Weights are fixed by folder and not measured: a run on another machine splits alike. Pure: it starts nothing.
 */

/** Roughly the seconds that a file takes, by the beginning of its path; the first that fits counts. */
export const weights: { folder: string; weight: number }[] = [
  { folder: "test/scenarios/status-server", weight: 38 },
  { folder: "test/scenarios/lifecycle", weight: 51 },
  { folder: "test/browser/dashboard", weight: 45 },
  { folder: "test/scenarios/status-events", weight: 42 },
  { folder: "test/scenarios/many", weight: 60 },
  { folder: "test/chaos/crash-points", weight: 42 },
  { folder: "test/chaos/", weight: 25 },
  { folder: "test/scenarios/attention", weight: 11 },
  { folder: "test/scenarios/rights", weight: 10 },
  { folder: "test/scenarios/options", weight: 21 },
  { folder: "test/scenarios/status-api", weight: 17 },
  { folder: "test/scenarios/board-story", weight: 22 },
  { folder: "test/browser/board", weight: 26 },
  { folder: "test/browser/parse-diff", weight: 1 },
  { folder: "test/browser/", weight: 9 },
  { folder: "test/scenarios/", weight: 30 },
  { folder: "test/claude/many", weight: 20 },
  { folder: "test/hosts/opencode.", weight: 19 },
  { folder: "test/hosts/claude", weight: 10 },
  { folder: "test/hosts/opencode-server", weight: 24 },
  { folder: "test/mcp/agents", weight: 15 },
  { folder: "test/mcp/inspector", weight: 13 },
  { folder: "test/mcp/", weight: 4 },
  { folder: "test/cli/", weight: 4 },
  { folder: "test/board/attempts", weight: 10 },
  { folder: "test/board/", weight: 3 },
  { folder: "test/claude/", weight: 6 },
  { folder: "test/http/", weight: 2 },
  { folder: "test/testing/", weight: 8 },
  { folder: "test/store/", weight: 7 },
];

export function weightOf(file: string): number {
  return weights.find(({ folder }) => file.startsWith(folder))?.weight ?? 1;
}

/** Greedy: the heaviest file first, each into the lane that has least so far. Lanes that would be empty are left out. */
export function splitIntoLanes(files: readonly string[], count: number): string[][] {
  const lanes = Array.from({ length: count }, () => ({ files: [] as string[], weight: 0 }));
  const heaviestFirst = files.toSorted((a, b) => weightOf(b) - weightOf(a) || (a < b ? -1 : 1));
  for (const file of heaviestFirst) {
    const lane = lanes.reduce((least, other) => (other.weight < least.weight ? other : least));
    lane.files.push(file);
    lane.weight += weightOf(file);
  }
  return lanes.map((lane) => lane.files).filter((lane) => lane.length > 0);
}
