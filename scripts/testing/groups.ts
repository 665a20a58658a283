/**
 * Splits test files into groups. Lanes that run in parallel take one group after the other, the heaviest first, so that
 * they end at about the same time although weights are only rough. Weights are fixed per folder and not measured, so
 * every machine splits alike. Pure: it starts nothing.
 */

/** The most that a group weighs, unless it is a single file. Smaller ones would start more processes. */
const GROUP_WEIGHT = 45;

/** Roughly the seconds a file takes, by path prefix; the first match counts. */
export const weights: { folder: string; weight: number }[] = [
  { folder: "test/chaos/crash-points", weight: 27 },
  { folder: "test/chaos/quotas", weight: 122 },
  { folder: "test/chaos/steering", weight: 30 },
  { folder: "test/chaos/fleet", weight: 7 },
  { folder: "test/chaos/", weight: 31 },
  { folder: "test/daemon/quotas", weight: 31 },
  { folder: "test/scenarios/lifecycle", weight: 46 },
  { folder: "test/scenarios/acp", weight: 31 },
  { folder: "test/scenarios/many", weight: 19 },
  { folder: "test/scenarios/status/events", weight: 44 },
  { folder: "test/scenarios/status/server", weight: 28 },
  { folder: "test/scenarios/history", weight: 22 },
  { folder: "test/scenarios/evidence", weight: 31 },
  { folder: "test/scenarios/options", weight: 31 },
  { folder: "test/scenarios/status/api", weight: 24 },
  { folder: "test/scenarios/attention", weight: 12 },
  { folder: "test/scenarios/rights", weight: 14 },
  { folder: "test/scenarios/", weight: 23 },
  { folder: "test/browser/dashboard", weight: 33 },
  { folder: "test/browser/board", weight: 28 },
  { folder: "test/browser/parse-diff", weight: 1 },
  { folder: "test/browser/wording/", weight: 1 },
  { folder: "test/browser/accessibility", weight: 35 },
  { folder: "test/browser/", weight: 10 },
  { folder: "test/hosts/acp/codex", weight: 93 },
  { folder: "test/hosts/acp/agents", weight: 24 },
  { folder: "test/hosts/acp/hostile", weight: 11 },
  { folder: "test/hosts/claude/claude-host", weight: 16 },
  { folder: "test/hosts/opencode/server", weight: 24 },
  { folder: "test/hosts/opencode/opencode-host", weight: 19 },
  { folder: "test/hosts/claude/runs", weight: 26 },
  { folder: "test/hosts/claude/quotas", weight: 37 },
  { folder: "test/hosts/claude/engine", weight: 12 },
  { folder: "test/store/postgres.test", weight: 72 },
  { folder: "test/store/copying", weight: 17 },
  { folder: "test/store/sqlite", weight: 31 },
  { folder: "test/store/tasks-json/", weight: 7 },
  { folder: "test/store/postgres/lists", weight: 8 },
  { folder: "test/store/postgres/writers", weight: 23 },
  { folder: "test/store/", weight: 3 },
  { folder: "test/mcp/tasks/hooks", weight: 21 },
  { folder: "test/mcp/tasks/", weight: 11 },
  { folder: "test/mcp/agents", weight: 18 },
  { folder: "test/mcp/inspector", weight: 17 },
  { folder: "test/mcp/board", weight: 12 },
  { folder: "test/mcp/", weight: 4 },
  { folder: "test/board/attempts", weight: 28 },
  { folder: "test/board/queue-race", weight: 38 },
  { folder: "test/board/", weight: 5 },
  { folder: "test/testing/opencode-harness", weight: 13 },
  { folder: "test/testing/host-conformance", weight: 41 },
  { folder: "test/testing/", weight: 2 },
  { folder: "test/simulation/play", weight: 18 },
  { folder: "test/simulation/shrink", weight: 13 },
  { folder: "test/simulation/", weight: 1 },
  { folder: "test/examples/", weight: 8 },
  { folder: "test/packages/", weight: 6 },
  { folder: "test/api/entries", weight: 6 },
  { folder: "test/api/", weight: 1 },
  { folder: "test/claude-parent/terminal", weight: 29 },
  { folder: "test/claude-parent/headless", weight: 27 },
  { folder: "test/claude/tasks/many", weight: 15 },
  { folder: "test/claude/tasks/handles", weight: 8 },
  { folder: "test/claude/session/other-versions", weight: 12 },
  { folder: "test/claude/session/limits", weight: 9 },
  { folder: "test/claude/session/session", weight: 16 },
  { folder: "test/claude/session/processes", weight: 13 },
  { folder: "test/claude/examples", weight: 7 },
  { folder: "test/claude/tasks/hooks", weight: 14 },
  { folder: "test/claude/tasks/recovery", weight: 7 },
  { folder: "test/claude/", weight: 1 },
  { folder: "test/daemon/clones", weight: 42 },
  { folder: "test/daemon/many-launches", weight: 5 },
  { folder: "test/daemon/telemetry", weight: 15 },
  { folder: "test/daemon/daemon", weight: 21 },
  { folder: "test/daemon/postgres", weight: 21 },
  { folder: "test/engine/machines", weight: 30 },
  { folder: "test/tui/panel", weight: 18 },
  { folder: "test/tui/attach", weight: 10 },
  { folder: "test/tui/task-feed", weight: 11 },
  { folder: "test/cli/board", weight: 31 },
  { folder: "test/cli/task", weight: 22 },
  { folder: "test/cli/hostile-text", weight: 22 },
  { folder: "test/cli/setup/notifications", weight: 16 },
  { folder: "test/cli/inbox/inbox.test", weight: 11 },
  { folder: "test/cli/full-disk", weight: 9 },
  { folder: "test/cli/", weight: 5 },
  { folder: "test/worktree/git.test", weight: 14 },
  { folder: "test/worktree/merge", weight: 9 },
  { folder: "test/worktree/", weight: 5 },
  { folder: "test/fuzz/", weight: 14 },
  { folder: "test/http/event", weight: 6 },
  { folder: "test/http/users", weight: 4 },
  { folder: "test/http/half-bodies", weight: 3 },
  { folder: "test/http/remote-calls", weight: 18 },
  { folder: "test/http/tokens/token-attacks", weight: 7 },
  { folder: "test/http/", weight: 1 },
  { folder: "test/daemon/runner", weight: 16 },
  { folder: "test/daemon/machines", weight: 14 },
  { folder: "test/engine/notices/notices", weight: 10 },
  { folder: "test/engine/folders/", weight: 3 },
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
