/**
 * The seam to the queue of runs that any runner may do. A run is enqueued in the transaction that writes its task, is
 * claimed by one runner for a limited time, and leaves the queue for good in the transaction that begins it. Each claim
 * has a fence: whoever lost its claim can neither extend, give back nor begin it. The task stays the only truth about
 * the run; the queue knows what it needs and who may begin it.
 */
import type { TaskEvent } from "../../model/events.ts";
import type { RunLimits } from "../../model/limits.ts";
import type { Task } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";

/** What a runner must have. Runs with the same needs wait in one line. */
export interface RunNeeds {
  host: string;
  model: string | null;
  /** The runner must have all of them. */
  labels: readonly string[];
  /** The machine that has the folder; null if any runner can get it from its repository. */
  machine: string | null;
  /** The address of that repository; null if there is none. */
  remote: string | null;
  /** Set if no runner may do it, but only a process that has this folder open. */
  directory?: string | null;
}

/** A folder that a host is open in, or should be. */
export interface HostFolder {
  host: string;
  directory: string;
}

/** What a runner on another machine checks out of the repository, and where the folder is as it is. */
export interface RunSource {
  commit: string;
  /** The folder within the repository; empty for all of it. */
  path: string;
  machine: string;
  directory: string;
}

export interface QueuedRun extends RunNeeds {
  taskId: string;
  /** Higher ones first; the oldest among equals. */
  priority: number;
  /** How often an interrupted run may start again. */
  retries: number;
  source: RunSource | null;
  /** Why only one machine can do it, for people; null if any can, or there is only one. */
  bound: string | null;
  /** The limits of the run, where they differ from the runner's. */
  limits: RunLimits;
}

/** A queued run that no runner has begun. */
export interface WaitingRun extends QueuedRun {
  /** Whether its task waits for others: nobody may begin it yet. */
  isHeld: boolean;
  /** Whether a runner is about to begin it. */
  isClaimed: boolean;
  /** Why the last runner that claimed it gave it back; null if none did. */
  trouble: string | null;
}

/** What a runner offers, and how much it claims. */
export interface ClaimRequest {
  /** The instance or process that claims. */
  runner: string;
  hosts: readonly string[];
  labels: readonly string[];
  machine: string;
  /** The folders that the process has open, whose runs it does beside those for any runner. */
  folders?: readonly HostFolder[];
  /** Repositories that the runner cannot get now, by their address. */
  withoutRemotes?: readonly string[];
  count: number;
  leaseMs: number;
  /** Now, for a database without a clock of its own that all its users share. */
  at: number;
  limits: QueueLimits;
}

/** How many queued runs may be claimed and at work at once, in all processes together. No limit when absent. */
export interface QueueLimits {
  total?: number;
  hosts?: Readonly<Record<string, number>>;
  models?: Readonly<Record<string, number>>;
  labels?: Readonly<Record<string, number>>;
}

/** A claim of a run. The fence increases with each claim. */
export interface RunClaim {
  taskId: string;
  fence: number;
}

export interface ClaimedRun extends RunClaim {
  task: Task;
  run: QueuedRun;
}

export interface RunQueue {
  /** Prepares the line for runs with these needs, outside of any transaction. Cheap when it is known. */
  open(needs: RunNeeds): Promise<void>;
  /** `Store.apply` that stores a task without a session together with its place in the queue. `open` was called. */
  enqueue(run: QueuedRun, created: TaskEvent): Promise<Transition>;
  /**
   * Claims runs that the runner can do, by priority, then by age. Also hands out those whose claim ran out. Limits are
   * counted in the same transaction, so that several runners at once never exceed them.
   */
  claim(request: ClaimRequest): Promise<ClaimedRun[]>;
  /** Gives those claims more time. Returns those that were lost. */
  extend(claims: readonly RunClaim[], lease: { leaseMs: number; at: number }): Promise<RunClaim[]>;
  /**
   * `Store.apply` that gives the task its session and ends the claim with it. Refused (`other_owner`) if the claim was
   * lost, or the task's new owner is not registered.
   */
  begin(claim: RunClaim, event: TaskEvent): Promise<Transition>;
  /** Gives a claim back: the run waits in its place again, and shows why, if given. False if the claim was lost. */
  release(claim: RunClaim, trouble?: string): Promise<boolean>;
  /** Those of these tasks that wait for a runner to begin them. */
  waiting(taskIds: readonly string[]): Promise<WaitingRun[]>;
  /** The folders that runs are bound to which could be begun. At most 1,000. */
  folders(): Promise<(HostFolder & { machine: string })[]>;
  /** How many runs are claimed or at work, by what they need. At most 1,000 entries. */
  atWork(): Promise<(readonly [RunNeeds, number])[]>;
}
