/**
 * The seam to the store: the truth about tasks and the bus between processes. Every change of a task goes through
 * `apply`, which commits the new row, its run, the totals, the event and the notice in one transaction. Every read is bounded.
 * Does not decide rules: `transition` in the model does, and the engine decides what to ask for.
 */

import type { NewTask, TaskEvent } from "../model/events.ts";
import type { Tokens } from "../model/progress.ts";
import type { Run, Status, Task } from "../model/task.ts";
import type { Applied, NoticeIntent, Refused, Transition } from "../model/transition.ts";
import type { BeatingProcess } from "../process/liveness.ts";
import type { BoardRecords } from "./board/records.ts";

/** Which tasks to read. Fields that are given are all required to match. */
export interface TaskQuery {
  parentSessionId?: string;
  batchId?: string;
  status?: readonly Status[];
  agent?: string;
  /** Part of the description, without regard to case. */
  search?: string;
  /** The beginning of an id. */
  idPrefix?: string;
  owner?: string;
  /** True: only those that left the view; false: only those in it; absent: both. */
  cleared?: boolean;
  /** At most 200; 50 when absent. */
  limit?: number;
  offset?: number;
  /** Newest first when absent: by start, and by creation where there is a search. */
  order?: "newest" | "oldest";
  /** How many characters of its run's prompt, result and error each task carries; all when absent. */
  textChars?: number;
}

export interface TaskPage {
  tasks: Task[];
  /** How many match, without limit and offset. */
  total: number;
}

/** When one run of a task began and ended, without its result. */
export interface RunSpan extends Pick<Run, "number" | "startedAt" | "endedAt" | "outcome"> {
  taskId: string;
  /** The first 2,048 characters. */
  prompt: string;
  /** The first 2,048 characters. */
  error: string | null;
}

/** What all tasks of an agent add up to. */
export interface AgentTotals {
  agent: string;
  /** Its tasks in each status. */
  byStatus: Record<Status, number>;
  endedRuns: number;
  /** How long its ended runs took, in ms; 0 where none has ended. */
  durationSum: number;
  durationMin: number;
  durationMax: number;
  toolCalls: number;
  tokens: Tokens;
  cost: number;
}

/** A window of time, from `from` to just before `to` (ms since the epoch). */
export interface HistoryQuery {
  from: number;
  to: number;
  /** The length of a bucket; a window has at most 500 of them. */
  bucketMs: number;
  /** Upper bounds of durations in ms, rising, at most 100. */
  durationBounds: readonly number[];
}

export interface History {
  /** Tasks that started in the window, by bucket and by their status now; the oldest first, none that is empty. */
  buckets: { at: number; status: Status; count: number }[];
  /** Runs that ended in the window: how many took less than each bound (and not less than the one before), then longer. */
  durations: { below: number | null; runs: number }[];
}

/**
 * A process and directory that launches, drives or delivers. `bootId`, `pidNamespace` and `processStart` make a pid
 * unambiguous.
 */
export interface Instance extends BeatingProcess {
  host: string;
  directory: string;
  startedAt: number;
}

/** A session that has launched tasks, with the instance that saw its last message. */
export interface Parent {
  sessionId: string;
  /** The kind of the host that its session belongs to; null where an older version did not say. */
  host: string | null;
  handler: string | null;
  agent: string | null;
  /** `provider/model`, and its variant where there is one. */
  model: string | null;
  variant: string | null;
  seenAt: number;
}

/** What was about to be launched when its session was not known yet; gone once the task's row is there. */
export interface Launch extends Omit<NewTask, "id" | "sessionId" | "owner"> {
  id: string;
  owner: string;
  at: number;
}

export type NoticeState = "pending" | "sending" | "delivered" | "dropped";

/** What a parent is to be told about one run. */
export interface Notice {
  id: number;
  taskId: string;
  run: number;
  kind: NoticeIntent["kind"];
  topic: string;
  parentSessionId: string;
  createdAt: number;
  /** Ended and all tasks of the batch, and its live ones, when the notice was written. */
  batchEnded: number;
  batchTotal: number;
  batchLive: number;
  state: NoticeState;
  /** The message that carries it, fixed before it is sent; several notices may share one. */
  messageId: string | null;
  sender: string | null;
  attempts: number;
  /** Why the last try failed, or why it was dropped. */
  reason: string | null;
  settledAt: number | null;
  /** When a notice that could not be delivered is tried again; for people to see. */
  nextTryAt: number | null;
}

/** Who takes notices for which message. */
export interface NoticeClaim {
  sender: string;
  messageId: string;
  limit: number;
  /** Notices that failed so often go alone, after the others; all go together when absent. */
  aloneAfter?: number;
  /** Leave those out altogether. */
  freshOnly?: boolean;
  /** False: it does not count as another attempt. */
  counts?: boolean;
}

export interface FeedEntry {
  /** Rises with each commit, without one appearing below another that was already read. */
  seq: number;
  taskId: string;
  event: TaskEvent;
}

/** The instance that must own a live task for an event to count; null: nobody. */
export interface ExpectedOwner {
  owner: string | null;
}

/** What can be done inside one write transaction. Nothing in it may wait for anything but the store. */
export interface Transaction {
  task(id: string): Promise<Task | null>;
  /**
   * Runs `transition` on the stored task and writes what follows from it. With `expected`, a live task of another owner is
   * left alone (`other_owner`). A refusal ends the whole transaction: nothing of it is written, and `write` gives the refusal.
   */
  apply(id: string, event: TaskEvent, expected?: ExpectedOwner): Promise<Applied>;
  /** The newest batch of a parent: among the tasks and launches of one message, or among those that live. */
  batchOf(parentSessionId: string, among: { messageId: string } | "live"): Promise<string | null>;
  openLaunch(launch: Launch): Promise<void>;
  /** False where it was closed already. */
  closeLaunch(id: string): Promise<boolean>;
  putParent(parent: Parent): Promise<void>;
  /** Takes a follow-up out of the queue; false where it is not there any more. */
  takeFollowUp(id: string): Promise<boolean>;
}

export interface Store {
  /** Projects, work items, attempts. A work item's status follows the tasks of its attempts in their own transactions. */
  readonly board: BoardRecords;

  /**
   * Runs `work` in one write transaction; it may run again from its start when the database was busy. Where an event in it was
   * refused, nothing was written, and the refusal is the answer.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | Refused>;
  /** `write` for a single event. */
  apply(id: string, event: TaskEvent, expected?: ExpectedOwner): Promise<Transition>;

  task(id: string): Promise<Task | null>;
  /** A page of tasks. What it costs depends on the page, not on how many tasks are stored. */
  tasks(query: TaskQuery): Promise<TaskPage>;
  /** How many tasks a batch has in each status. */
  batchCounts(batchId: string): Promise<Record<Status, number>>;
  /** The runs of all tasks of a batch, oldest start first; at most `limit` (5,000 when absent, and at the most). */
  batchRuns(batchId: string, limit?: number): Promise<RunSpan[]>;
  /** The runs of a task from the newest down; at most `limit` (20 when absent). */
  runs(taskId: string, limit?: number): Promise<Run[]>;
  /** One run of a task. */
  run(taskId: string, number: number): Promise<Run | null>;

  /** What the tasks of each agent add up to, by the agent's name; at most 1,000 agents. Cheap: it is kept, not counted. */
  agentTotals(): Promise<AgentTotals[]>;
  /** What started and ended in a window of time. Refuses one with more than 500 buckets (`invalid_input`). */
  history(query: HistoryQuery): Promise<History>;

  /** Entries after `seq` in order; at most `limit` (500 when absent). Progress that was told again since is left out. */
  feed(after: number, limit?: number): Promise<FeedEntry[]>;
  /** The entries of these tasks after one seq and before another, in order; at most `limit` (500 when absent). */
  entriesOf(
    taskIds: readonly string[],
    between: { after: number; before: number },
    limit?: number,
  ): Promise<FeedEntry[]>;
  lastSeq(): Promise<number>;
  /** Calls back, soon and merged, after commits of this or any other process. Returns the way to stop. */
  onChange(listener: () => void): () => void;

  addInstance(instance: Instance): Promise<void>;
  /** Moves the instance's heartbeat; false where there is no such instance (any more). */
  beat(id: string): Promise<boolean>;
  endInstance(id: string): Promise<void>;
  /** Instances that have not said that they ended; some of them may be dead. */
  instances(): Promise<Instance[]>;

  /** Launches that have no task yet, oldest first; at most 200, behind the one that is given. */
  launches(after?: Pick<Launch, "at" | "id">): Promise<Launch[]>;
  closeLaunch(id: string): Promise<boolean>;

  putParent(parent: Parent): Promise<void>;
  parent(sessionId: string): Promise<Parent | null>;

  /** Parents that have notices in `pending` or `sending`, by id; at most 200, behind the one that is given. */
  parentsWithNotices(after?: string): Promise<string[]>;
  /** Notices of a parent in one state, oldest first; at most `limit` (100 when absent). */
  notices(parentSessionId: string, state: NoticeState, limit?: number): Promise<Notice[]>;
  /** The newest notice about a task; null where its parent was never to be told anything. */
  lastNotice(taskId: string): Promise<Notice | null>;
  /**
   * Takes pending notices of a parent (oldest first, at most `limit`) for one message. Empty when there are none, or
   * when another group of this parent is being sent.
   */
  claimNotices(parentSessionId: string, claim: NoticeClaim): Promise<Notice[]>;
  /** Takes over a group whose message may have arrived, as it is; empty when somebody else was faster. */
  reclaimNotices(messageId: string, claim: { sender: string; from: string | null; counts: boolean }): Promise<Notice[]>;
  /**
   * What became of a try: delivered, dropped with its reason, pending again for another message, or still `sending`: it is not
   * known whether the message arrived, so the group stays as it is and keeps its id, but it has no sender any more: whoever
   * handles the parent may take it over.
   */
  settleNotices(
    messageId: string,
    outcome: { state: NoticeState; reason: string | null; at: number; nextTryAt?: number },
  ): Promise<void>;
  /** Drops what waits to be told to a parent that will never read it. */
  dropNotices(parentSessionId: string, reason: string, at: number): Promise<void>;
  /** Makes what was not delivered about a task due again, also what was dropped. Says how many notices that are. */
  reopenNotices(taskId: string): Promise<number>;

  close(): Promise<void>;
}
