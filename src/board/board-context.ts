/**
 * The dependencies that every part of the board receives: store, engines, worktrees, clock, ids, log. Contains no
 * rules.
 */

import type { Desk } from "../engine/desk.ts";
import type { Runner } from "../engine/runner.ts";
import type { Changes } from "../engine/watching/changes.ts";
import type { Waiter } from "../engine/watching/waiter.ts";
import type { AgentCondition } from "../hosts/host-maker.ts";
import type { Clock } from "../process/clock.ts";
import type { KeyedQueue } from "../process/keyed-queue.ts";
import type { Log } from "../process/log.ts";
import type { Store } from "../store/store.ts";
import type { RemoteOperations } from "./remote-operations.ts";
import type { TaskWorktrees } from "./worktrees/task-worktrees.ts";

/** A host that can run agents here. */
export interface ExecutorInfo {
  /** The kind of host: opencode, claude, acp, scripted. */
  host: string;
  /** Why the host cannot be used and what to do about it; null if it can. */
  problem: string | null;
  /** Null for the host's own default. */
  defaultAgent: string | null;
  /** Empty while they are not known yet. */
  agents: string[];
  /** For a host whose agents are programs of their own: all of them, also those that cannot be used. */
  conditions?: readonly AgentCondition[];
}

export interface BoardContext extends Clock {
  store: Store;
  desk: Desk;
  /** What only other processes can do. */
  remote: RemoteOperations;
  /** All hosts of this process, with the agents available in a directory. */
  executors(directory: string | null): Promise<ExecutorInfo[]>;
  /** The folder for all worktrees, an absolute path. */
  worktrees: string;
  log: Log;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
  /** A UUID. */
  newId(): string;
  /** What keeps engines out of directories that are removed. Nothing does when absent. */
  folders?: Pick<Runner, "removing" | "release">;
  /** Whether models may use the scripted agent too; by default they may not. */
  scriptedForModels?: boolean;
  /**
   * How many levels deep agents may launch agents. With the default, 1, an agent that we started cannot launch
   * another.
   */
  maxDepth?: number;
  /** How long a call waits for an attempt to be set up, in ms; 20 s by default. */
  setupPatience?: number;
  /** The first retry delay for a queued follow-up that could not start, in ms; 5 s by default. */
  retryPause?: number;
}

/** The context plus the state shared by the parts of one board. */
export interface BoardParts extends BoardContext {
  changes: Changes;
  waiter: Waiter;
  taskWorktrees: TaskWorktrees;
  /** Runs the changes to one attempt, or to the attempts of one work item, one after the other. */
  oneAtATime: KeyedQueue;
}
