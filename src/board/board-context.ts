/** What every part of the board is given: the truth, the hands, the clock, ids, the log. Holds no rules. */

import type { Desk } from "../engine/desk.ts";
import type { Changes } from "../engine/watching/changes.ts";
import type { Waiter } from "../engine/watching/waiter.ts";
import type { Log } from "../process/log.ts";
import type { Store } from "../store/store.ts";
import type { Turns } from "./turns.ts";

/** What can run agents here. */
export interface ExecutorInfo {
  /** The kind of host: opencode, claude, scripted. */
  host: string;
  /** Why it cannot be used, and what to do; null when it can. */
  problem: string | null;
  /** Null for the program's own choice. */
  defaultAgent: string | null;
  /** Empty where they are not known yet. */
  agents: string[];
}

export interface BoardContext {
  store: Store;
  desk: Desk;
  /** All hosts of this process, with the agents as seen from a directory. */
  executors(directory: string | null): Promise<ExecutorInfo[]>;
  /** The folder for all worktrees, an absolute path. */
  worktrees: string;
  log: Log;
  now(): number;
  /** A UUID. */
  newId(): string;
  /** A directory is gone: whoever works there lets go of it. */
  released?(directory: string): Promise<void>;
  /** Models may use the scripted agent too; they may not when absent. */
  scriptedForModels?: boolean;
  /** How deep agents may launch agents; 1, the default, means that an agent that we started launches none. */
  maxDepth?: number;
  /** How long a call waits for an attempt to be set up, in ms; 20 s when absent. */
  setupPatience?: number;
  /** How long a queued follow-up that could not begin waits before it is tried again, at first, in ms; 5 s when absent. */
  retryPause?: number;
}

/** The context with what the parts of one board share. */
export interface BoardParts extends BoardContext {
  changes: Changes;
  waiter: Waiter;
  /** One at a time for each attempt. */
  turns: Turns;
}
