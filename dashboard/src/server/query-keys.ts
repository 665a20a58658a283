/**
 * The cache keys of all answers, in one place, so that the stream and the views mean the same entry.
 */

export const queryKeys = {
  stats: ["stats"],
  inbox: ["inbox"],
  budgets: ["budgets"],
  budgetsOf: (what: string) => ["budgets", what],
  history: ["history"],
  historyOf: (range: string) => ["history", range],
  instances: ["instances"],
  runners: ["runners"],
  failedNotifications: ["notifications", "failed"],
  recent: ["recent"],
  foundTasks: (search: string) => ["found", search],
  usage: (range: string) => ["history", "usage", range],
  troubles: ["troubles"],
  task: (id: string) => ["task", id],
  runs: (id: string) => ["runs", id],
  runsAt: (id: string, standing: string) => ["runs", id, standing],
  changesAt: (id: string, standing: string) => ["changes", id, standing],
  worktreeAt: (id: string, standing: string) => ["worktree", id, standing],
  noticeAt: (id: string, standing: string) => ["notice", id, standing],
  logs: (id: string) => ["logs", id],
  group: (id: string) => ["group", id],
  taskSpans: (id: string) => ["spans", "task", id],
  groupSpans: (id: string) => ["spans", "group", id],
  children: (id: string) => ["children", id],
  warnings: (attemptId: string) => ["warnings", attemptId],
  /** The prefix of everything that the board shows. */
  board: ["board"],
  approvals: ["board", "approvals"],
  projects: ["board", "projects"],
  repos: (projectId: string) => ["board", "repos", projectId],
  itemsOf: (projectId: string) => ["board", "items", projectId],
  items: (projectId: string, status: string) => ["board", "items", projectId, status],
  foundItems: (projectId: string, status: string, search: string) => [
    "board",
    "items",
    projectId,
    status,
    "found",
    search,
  ],
  item: (id: string) => ["board", "item", id],
  attempts: (itemId: string) => ["board", "attempts", itemId],
  attempt: (id: string) => ["board", "attempt", id],
  handle: (attemptId: string, sessionId: string) => ["board", "handle", attemptId, sessionId],
  followUps: (attemptId: string, count: number) => ["board", "follow-ups", attemptId, count],
  diff: (attemptId: string) => ["board", "diff", attemptId],
  executors: ["executors"],
} as const;

/** The names of changes in flight. */
export const mutationKeys = { move: ["move"] } as const;
