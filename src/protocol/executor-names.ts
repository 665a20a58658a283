/**
 * The hosts by the names that operations give them: the only table of them, for the server, the command line and the
 * dashboard. Without schemas, so that a page can load it alone. No behaviour.
 */
export const EXECUTOR_HOSTS = { OPENCODE: "opencode", CLAUDE_CODE: "claude", SCRIPTED: "scripted" } as const;

export type ExecutorName = keyof typeof EXECUTOR_HOSTS;

export const EXECUTORS = Object.keys(EXECUTOR_HOSTS) as readonly ExecutorName[];
