/**
 * What every part of an engine is given: the seams, the clocks, ids, settings, the log. Contains no rules. Each engine
 * has its own; nothing in an engine reads a global clock, sets a global timer or makes ids by itself.
 */

import type { Host } from "../hosts/host.ts";
import type { NewBudgets } from "../model/budgets/budget.ts";
import type { Prices } from "../model/budgets/prices.ts";
import type { CondenseLimits } from "../model/condense.ts";
import type { Resumable } from "../model/events.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { RequestRule } from "../model/request-policy.ts";
import type { Run, Task, Wake } from "../model/task.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Instance, Notice, Store } from "../store/store.ts";
import type { Slots } from "./runs/slots.ts";
import type { Supervisor } from "./supervisor.ts";

/** A point where a crash must not lose anything. Tests kill the process there. */
export type CrashPoint =
  | "session-made"
  | "row-written"
  | "prompt-sent"
  | "pause-written"
  | "continue-stored"
  | "steer-stored"
  | "steer-sent"
  | "outbox-written"
  | "notice-sent";

export interface Settings {
  /** Which ended tasks may be resumed, besides completed ones. */
  resumable: Resumable;
  /** How deep tasks may launch tasks. With 1, a task cannot launch any. */
  maxDepth: number;
  /** Which ends of tasks start a turn of their parent, where the launch does not say. */
  wake: Wake;
  /** How many characters of a result go into a notice. */
  noticeResultChars: number;
  /** The pause after a failed delivery. It doubles with each failure, up to a minute or this value. */
  noticeRetryMs: number;
  fork: CondenseLimits;
  /** The shortest time between two polls, and the longest that a missed event goes unnoticed. */
  pollMs: number;
  /** How long prompts wait after a launch for the next one. Agents in the parent's process slow it down. */
  launchPauseMs: number;
  /** The limits of a run. */
  limits: Limits;
  /** The budgets of launches that bring none. */
  budgets: NewBudgets;
  /** What models cost whose host does not say. */
  prices: Prices;
  /** Written rules about what agents ask; the first that fits decides. */
  rules: readonly RequestRule[];
  /** Whether a parent's tasks are cancelled when somebody aborts its turn. */
  cancelOnAbort: boolean;
  /** The names of the tools that launch and list tasks, as the door calls them. */
  launchTool: string;
  listTool: string;
  /** The tools that a child session does not get once `maxDepth` is reached. */
  ownTools: readonly string[];
}

export const DEFAULT_SETTINGS: Settings = {
  resumable: [],
  maxDepth: 1,
  wake: "each",
  noticeResultChars: 8192,
  noticeRetryMs: 2000,
  fork: { tokens: 100_000, wholeOutputs: 5, recentOutputs: 15, recentChars: 3000, olderChars: 500 },
  pollMs: 5000,
  launchPauseMs: 0,
  limits: DEFAULT_LIMITS,
  budgets: {},
  prices: {},
  rules: [],
  cancelOnAbort: false,
  launchTool: "task",
  listTool: "the list of tasks",
  ownTools: [],
};

/** A notice with its task and run, ready to be worded. */
export interface NoticeView {
  notice: Notice;
  task: Task;
  run: Run;
  /** What the task changed in a worktree of its own, as text; absent if it has none. */
  changes?: string;
}

export interface NoticeText {
  visible: string;
  hidden: string;
}

export interface EngineContext extends Clock {
  store: Store;
  host: Host;
  instance: Instance;
  settings: Settings;
  log: Log;
  newId(prefix: string): string;
  /** Words notices for one parent, as one message. */
  wordNotices(views: readonly NoticeView[]): NoticeText;
  /** What a task changed in a worktree of its own, as text; null if it has none. Must not take long. */
  changesOf?(task: Task): Promise<string | null>;
  reach(point: CrashPoint): void;
  /** The supervisor of the process. The engine is its member from start to stop. */
  supervisor: Supervisor;
  /** Does work that begins something in the directory, which nobody removes meanwhile. Just does it when absent. */
  keepFolder?<T>(work: () => Promise<T>): Promise<T>;
  /** How many runs may work at once, over all engines of the process. No limit when absent. */
  slots?: Slots;
}
