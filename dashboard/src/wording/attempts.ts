/**
 * An attempt's state and executor in words and in the colours of a task's status. Pure.
 */
import { type ExecutorName, splitExecutor } from "../../../src/protocol/executor-names.ts";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import type { AttemptState } from "../server/operate.ts";

/** The status whose icon and colour represent the state. */
const LOOKS: Record<AttemptState, BackgroundTaskStatus> = {
  starting: "running",
  running: "running",
  waiting: "resumed",
  completed: "completed",
  failed: "error",
  stopped: "cancelled",
  merged: "completed",
};

export function lookOf(state: AttemptState): BackgroundTaskStatus {
  return LOOKS[state];
}

const AT_WORK: Record<AttemptState, boolean> = {
  starting: true,
  running: true,
  waiting: true,
  completed: false,
  failed: false,
  stopped: false,
  merged: false,
};

export function isAtWork(state: AttemptState | undefined): boolean {
  return state !== undefined && AT_WORK[state];
}

const EXECUTORS: Record<ExecutorName, string> = {
  OPENCODE: "OpenCode",
  CLAUDE_CODE: "Claude Code",
  ACP: "ACP",
  SCRIPTED: "Scripted",
};

/** The executor's name itself if this page is older than its server. */
export function executorLabel(executor: string): string {
  const { executor: host, agent } = splitExecutor(executor);
  if (agent !== null) return `${executorLabel(host)}: ${agent}`;
  return Object.hasOwn(EXECUTORS, executor) ? EXECUTORS[executor as ExecutorName] : executor;
}
