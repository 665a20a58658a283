/**
 * Splits test files into groups. Lanes that run in parallel take one group after the other, the heaviest first, so that
 * they end at about the same time although weights are only rough. Weights are fixed per folder and not measured, so
 * every machine splits alike. Pure: it starts nothing.
 */

/** The most that a group weighs, unless it is a single file. Smaller ones would start more processes. */
const GROUP_WEIGHT = 45;

/** Roughly the seconds a file takes, by path prefix; the first match counts. */
export const weights: { folder: string; weight: number }[] = [
  { folder: "test/chaos/crash-points", weight: 74 },
  { folder: "test/chaos/quotas", weight: 130 },
  { folder: "test/chaos/steering", weight: 32 },
  { folder: "test/chaos/fleet", weight: 12 },
  { folder: "test/chaos/", weight: 15 },
  { folder: "test/daemon/quotas", weight: 32 },
  { folder: "test/scenarios/lifecycle", weight: 64 },
  { folder: "test/scenarios/acp", weight: 60 },
  { folder: "test/scenarios/many", weight: 52 },
  { folder: "test/scenarios/status/events", weight: 50 },
  { folder: "test/scenarios/status/server", weight: 41 },
  { folder: "test/scenarios/history", weight: 40 },
  { folder: "test/scenarios/evidence", weight: 38 },
  { folder: "test/scenarios/options", weight: 35 },
  { folder: "test/scenarios/status/api", weight: 27 },
  { folder: "test/scenarios/attention", weight: 15 },
  { folder: "test/scenarios/rights", weight: 13 },
  { folder: "test/scenarios/", weight: 32 },
  { folder: "test/browser/dashboard", weight: 61 },
  { folder: "test/browser/board", weight: 32 },
  { folder: "test/browser/parse-diff", weight: 1 },
  { folder: "test/browser/wording/", weight: 1 },
  { folder: "test/browser/", weight: 10 },
  { folder: "test/hosts/acp/codex", weight: 60 },
  { folder: "test/hosts/acp/agents", weight: 45 },
  { folder: "test/hosts/acp/hostile", weight: 15 },
  { folder: "test/hosts/claude/claude-host", weight: 45 },
  { folder: "test/hosts/opencode/server", weight: 33 },
  { folder: "test/hosts/opencode/opencode-host", weight: 29 },
  { folder: "test/hosts/claude/runs", weight: 28 },
  { folder: "test/hosts/claude/quotas", weight: 40 },
  { folder: "test/hosts/claude/engine", weight: 9 },
  { folder: "test/store/postgres.test", weight: 27 },
  { folder: "test/store/copying", weight: 13 },
  { folder: "test/store/sqlite", weight: 10 },
  { folder: "test/store/tasks-json/", weight: 10 },
  { folder: "test/store/", weight: 2 },
  { folder: "test/mcp/tasks/hooks", weight: 27 },
  { folder: "test/mcp/tasks/", weight: 25 },
  { folder: "test/mcp/agents", weight: 24 },
  { folder: "test/mcp/inspector", weight: 18 },
  { folder: "test/mcp/board", weight: 8 },
  { folder: "test/mcp/", weight: 3 },
  { folder: "test/board/attempts", weight: 23 },
  { folder: "test/board/", weight: 3 },
  { folder: "test/testing/opencode-harness", weight: 22 },
  { folder: "test/testing/", weight: 2 },
  { folder: "test/simulation/play", weight: 10 },
  { folder: "test/simulation/", weight: 4 },
  { folder: "test/examples/", weight: 15 },
  { folder: "test/packages/", weight: 5 },
  { folder: "test/api/entries", weight: 12 },
  { folder: "test/api/", weight: 3 },
  { folder: "test/claude-parent/terminal", weight: 75 },
  { folder: "test/claude-parent/headless", weight: 35 },
  { folder: "test/claude/tasks/many", weight: 20 },
  { folder: "test/claude/tasks/handles", weight: 13 },
  { folder: "test/claude/session/other-versions", weight: 11 },
  { folder: "test/claude/session/limits", weight: 9 },
  { folder: "test/claude/session/session", weight: 17 },
  { folder: "test/claude/session/processes", weight: 13 },
  { folder: "test/claude/examples", weight: 9 },
  { folder: "test/claude/tasks/hooks", weight: 14 },
  { folder: "test/claude/tasks/recovery", weight: 7 },
  { folder: "test/claude/", weight: 2 },
  { folder: "test/daemon/clones", weight: 40 },
  { folder: "test/daemon/many-launches", weight: 8 },
  { folder: "test/daemon/telemetry", weight: 8 },
  { folder: "test/daemon/daemon", weight: 9 },
  { folder: "test/daemon/postgres", weight: 8 },
  { folder: "test/engine/machines", weight: 11 },
  { folder: "test/tui/panel", weight: 45 },
  { folder: "test/tui/attach", weight: 20 },
  { folder: "test/tui/task-feed", weight: 10 },
  { folder: "test/cli/board", weight: 8 },
  { folder: "test/cli/task", weight: 8 },
  { folder: "test/cli/", weight: 2 },
  { folder: "test/worktree/merge", weight: 9 },
  { folder: "test/worktree/", weight: 3 },
  { folder: "test/fuzz/", weight: 14 },
  { folder: "test/http/event", weight: 6 },
  { folder: "test/http/users", weight: 6 },
  { folder: "test/http/half-bodies", weight: 5 },
  { folder: "test/http/remote-calls", weight: 10 },
  { folder: "test/http/", weight: 1 },
];

export function weightOf(file: string): number {
  return weights.find(({ folder }) => file.startsWith(folder))?.weight ?? 1;
}

/** Heaviest first. Each file goes into the first group that has room for it. */
export function splitIntoGroups(files: readonly string[]): string[][] {
  const groups: { files: string[]; weight: number }[] = [];
  const heaviestFirst = files.toSorted((a, b) => weightOf(b) - weightOf(a) || (a < b ? -1 : 1));
  for (const file of heaviestFirst) {
    const weight = weightOf(file);
    const group = groups.find((each) => each.weight + weight <= GROUP_WEIGHT);
    if (group === undefined) {
      groups.push({ files: [file], weight });
    } else {
      group.files.push(file);
      group.weight += weight;
    }
  }
  return groups.sort((one, other) => other.weight - one.weight).map((group) => group.files);
}
