/**
 * What every part of the engine is given: the seams, the clock, ids, settings, the log. Holds no rules. Each instance
 * (a process serving a directory) has one; nothing in the engine reads a global clock or makes ids by itself.
 */

import type { Host } from "../hosts/host.ts";
import type { CondenseLimits } from "../model/condense.ts";
import type { Resumable } from "../model/events.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { Run, Task } from "../model/task.ts";
import type { Log } from "../process/log.ts";
import type { Instance, Notice, Store } from "../store/store.ts";
import type { Slots } from "./runs/slots.ts";
import type { Supervisor } from "./supervisor.ts";

/** A place where a crash must lose nothing; tests kill the process there. */
export type CrashPoint = "session-made" | "row-written" | "prompt-sent" | "outbox-written" | "notice-sent";

export interface Settings {
  /** Which ended tasks may be resumed besides completed ones. */
  resumable: Resumable;
  /** How deep tasks may launch tasks; 1 means that a task launches none. */
  maxDepth: number;
  /** Characters of a result that go into a notice. */
  noticeResultChars: number;
  /** The pause after a delivery that failed; it doubles with each further one, to a minute at least. */
  noticeRetryMs: number;
  fork: CondenseLimits;
  /** The least time between two status calls, and the longest that a missed event goes unnoticed. */
  pollMs: number;
  /** How long prompts wait after a launch for the next one: where agents share the parent's process they slow it down. */
  launchPauseMs: number;
  /** What a run may take. */
  limits: Limits;
  /** Cancel a parent's tasks when somebody aborts its turn; else they go on. */
  cancelOnAbort: boolean;
  /** What launches a task, and what lists them, in the words of the door. */
  launchTool: string;
  listTool: string;
  /** The tools that a child session does not get once `maxDepth` is reached. */
  ownTools: readonly string[];
}

export const DEFAULT_SETTINGS: Settings = {
  resumable: [],
  maxDepth: 1,
  noticeResultChars: 8192,
  noticeRetryMs: 2000,
  fork: { tokens: 100_000, wholeOutputs: 5, recentOutputs: 15, recentChars: 3000, olderChars: 500 },
  pollMs: 5000,
  launchPauseMs: 0,
  limits: DEFAULT_LIMITS,
  cancelOnAbort: false,
  launchTool: "task",
  listTool: "the list of tasks",
  ownTools: [],
};

/** One notice with what it is about, ready to be put into words. */
export interface NoticeView {
  notice: Notice;
  task: Task;
  run: Run;
}

export interface NoticeText {
  visible: string;
  hidden: string;
}

export interface EngineContext {
  store: Store;
  host: Host;
  instance: Instance;
  settings: Settings;
  log: Log;
  /** The wall clock: for times that are stored and shown. */
  now(): number;
  /** For durations: milliseconds that only rise, and only while the machine is awake. */
  monotonic(): number;
  newId(prefix: string): string;
  /** Whether an instance's process still runs. */
  isAlive(instance: Instance): boolean;
  /** Puts notices into words; they all go to one parent in one message. */
  wordNotices(views: readonly NoticeView[]): NoticeText;
  reach(point: CrashPoint): void;
  /** That of the process, which all its engines share: the engine is a member from its start to its stop. */
  supervisor: Supervisor;
  /** How many runs are at work at once, over all engines of the process; any number when absent. */
  slots?: Slots;
}
