/**
 * The names under which answers are cached, in one place, so that the stream and the views mean the same entry.
 */

export const queryKeys = {
  stats: ["stats"],
  history: ["history"],
  historyOf: (range: string) => ["history", range],
  instances: ["instances"],
  task: (id: string) => ["task", id],
  runs: (id: string) => ["runs", id],
  runsAt: (id: string, standing: string) => ["runs", id, standing],
  logs: (id: string) => ["logs", id],
  group: (id: string) => ["group", id],
  children: (id: string) => ["children", id],
} as const;
