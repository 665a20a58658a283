/**
 * The seam to the store: the truth about tasks and the bus between processes. Every change of a task goes through
 * `apply`, which commits the new row, its run, the totals, the event and the notice in one transaction. Every read is
 * bounded. Decides no rules: `transition` in the model does, and the engine decides what to ask for.
 */

import type { NewTask, TaskEvent, TaskEventType } from "../model/events.ts";
import type { WorkSpan } from "../model/live-run/work-spans.ts";
import type { Tokens } from "../model/progress.ts";
import type { SteeringMessage } from "../model/steering.ts";
import type { Run, Status, Task, TaskSort } from "../model/task.ts";
import type { Applied, NoticeIntent, Refused, Transition } from "../model/transition.ts";
import type { LeasedProcess } from "../process/liveness.ts";
import type { AccessRecords } from "./access/records.ts";
import type { BoardRecords } from "./board/records.ts";
import type { BudgetRecords } from "./budgets/records.ts";
import type { RemoteCallRecords } from "./calls/records.ts";
import type { FollowerRecords } from "./followers/records.ts";
import type { NotificationRecords } from "./notifications/records.ts";
import type { QueuedRun, RunClaim, RunQueue } from "./queue/run-queue.ts";
import type { RunnerRecords } from "./runners/records.ts";
import type { TranscriptRecords } from "./transcripts/records.ts";

/** Which tasks to read. All given fields must match. */
export interface TaskQuery {
  parentSessionId?: string;
  batchId?: string;
  status?: readonly Status[];
  agent?: string;
  host?: string;
  /** This folder and everything below it; an absolute path. */
  directory?: string;
  /** Started at or after this time. */
  startedFrom?: number;
  /** Started before this time. */
  startedBefore?: number;
  /** Part of the description, ignoring case. */
  search?: string;
  /** A prefix of the id. */
  idPrefix?: string;
  owner?: string;
  /** True: only cleared tasks; false: only others; absent: both. */
  cleared?: boolean;
  /** At most 200; default 50. */
  limit?: number;
  offset?: number;
  /**
   * Default by start, or by creation for a search. Equal ones are in the order of their creation. A live task counts as
   * having taken no time and cost nothing.
   */
  sort?: TaskSort;
  /** Default newest first; for other sorts that is descending. */
  order?: "newest" | "oldest";
  /** How many characters of its run's prompt, result and error each task has; default all. */
  textChars?: number;
}

/** What an action on many tasks needs of each. */
export interface TaskHandle {
  id: string;
  description: string;
  status: Status;
}

export interface TaskSelection {
  /** In the order of the query; at most 2,000, default 500. */
  tasks: TaskHandle[];
  /** How many match in all. */
  total: number;
}

export interface TaskPage {
  tasks: Task[];
  /** How many match, ignoring limit and offset. */
  total: number;
}

export interface InboxQuery {
  /** Failed tasks that ended before this time are left out. */
  failedAfter: number;
  /** Of each kind, at most 200; default 100. */
  limit?: number;
}

/** The texts of their runs are shortened. */
export interface InboxTasks {
  /** Live tasks in phase `waiting`, by their start. */
  waiting: Task[];
  /** Failed tasks that a person launched, uncleared, and whose end nobody has read; newest first. */
  failed: Task[];
  /** Of attempts whose merge met conflicts, the newest task, with what git said and when; oldest first. */
  conflicts: { task: Task; text: string; at: number }[];
}

/** When one run of a task began and ended, without its result. */
export interface RunSpan extends Pick<Run, "number" | "startedAt" | "endedAt" | "outcome"> {
  taskId: string;
  /** The first 2,048 characters. */
  prompt: string;
  /** The first 2,048 characters. */
  error: string | null;
}

/** Which runs: all of a batch, or of a task, or one of its runs. At most 1,000, also the default. */
export type SpanQuery = ({ batchId: string } | { taskId: string; run?: number }) & { limit?: number };

/** What a run spent its time on. */
export interface StoredSpans {
  taskId: string;
  run: number;
  /** When the run started. */
  startedAt: number;
  spans: WorkSpan[];
}

/** The totals of all tasks of an agent. */
export interface AgentTotals {
  agent: string;
  /** The number of its tasks in each status. */
  byStatus: Record<Status, number>;
  endedRuns: number;
  /** How long its ended runs took, in ms; 0 if none has ended. */
  durationSum: number;
  durationMin: number;
  durationMax: number;
  toolCalls: number;
  tokens: Tokens;
  cost: number;
}

/** A window of time, from `from` to just before `to` (ms since the epoch). */
export interface UsageQuery {
  from: number;
  to: number;
  /** The length of a bucket; a window has at most 500 of them. */
  bucketMs: number;
}

/** What the tasks of one model have used that started in a bucket. */
export interface UsageRow {
  /** When the bucket begins. */
  at: number;
  /** Null if the host chose it. */
  model: string | null;
  tasks: number;
  tokens: Tokens;
  cost: number;
  /** How many of the tasks used tokens and have no cost: their model has no known price. */
  unpriced: number;
}

export interface HistoryQuery extends UsageQuery {
  /** Upper bounds of durations in ms, increasing, at most 100. */
  durationBounds: readonly number[];
}

export interface HistoryCounts {
  /** Tasks that started in the window, by bucket and current status; oldest first, without empty buckets. */
  buckets: { at: number; status: Status; count: number }[];
  /**
   * Runs that ended in the window: how many took less than each bound (and at least the one before), then longer ones.
   */
  durations: { below: number | null; runs: number }[];
}

/**
 * A process and directory that launches, drives or delivers. `bootId`, `pidNamespace` and `processStart` make a pid
 * unambiguous.
 */
export interface Instance extends LeasedProcess {
  host: string;
  directory: string;
  startedAt: number;
}

/** A session that has launched tasks, with the instance that saw its last message. */
export interface Parent {
  sessionId: string;
  /** The kind of its session's host; null if an older version wrote it. */
  host: string | null;
  handler: string | null;
  agent: string | null;
  /** `provider/model`, with its variant if there is one. */
  model: string | null;
  variant: string | null;
  seenAt: number;
  /** The machine that has the session; empty if that is unknown. */
  machine: string;
}

/** A launch whose session is not known yet; removed when the task is stored. */
export interface Launch extends Omit<NewTask, "id" | "sessionId" | "owner"> {
  id: string;
  owner: string;
  machine: string;
  at: number;
}

export type NoticeState = "pending" | "sending" | "delivered" | "dropped";

/** What to tell a parent about one run. */
export interface Notice {
  id: number;
  taskId: string;
  run: number;
  kind: NoticeIntent["kind"];
  topic: string;
  parentSessionId: string;
  createdAt: number;
  /** The ended, total and live tasks of the batch when the notice was written. */
  batchEnded: number;
  batchTotal: number;
  batchLive: number;
  state: NoticeState;
  /** The message that carries it, fixed before it is sent; several notices may share one. */
  messageId: string | null;
  sender: string | null;
  attempts: number;
  /** Why the last attempt failed, or why it was dropped. */
  reason: string | null;
  settledAt: number | null;
  /** When an undelivered notice is tried again, for display. */
  nextTryAt: number | null;
  /** Grows each time that a group which contains it is claimed. */
  fence: number;
  wake: NoticeIntent["wake"];
}

/** Who sends a group of notices: a claim is over as soon as one of them differs. */
export type NoticeSender = Pick<Notice, "sender" | "fence">;

/** Who claims notices for which message. */
export interface NoticeClaim {
  sender: string;
  messageId: string;
  limit: number;
  /** Notices that failed this often are sent alone, after the others; by default all are sent together. */
  aloneAfter?: number;
  /** Leaves those out altogether. */
  freshOnly?: boolean;
  /** If false, this does not count as another attempt. */
  counts?: boolean;
}

export interface FeedEntry {
  /** Increases with each commit; none appears below one that was already read. */
  seq: number;
  taskId: string;
  event: TaskEvent;
}

/**
 * An event of a live run counts only if the run still has this owner and fence. The owner may write; another instance
 * takes the run over, which it may only do while the owner is not registered.
 */
export interface ExpectedOwner extends Pick<Task, "owner" | "fence"> {
  /** The instance that writes. */
  by: string;
}

/** A step through the tasks that ended before a time, oldest start first. */
export interface PruneRequest {
  /** In ms since the epoch. */
  endedBefore: number;
  /** `next` of the step before; null for the first. */
  after: PrunePosition | null;
  /** Only these, at most 100. Somebody named them, so even the newest of all may go. */
  ids?: readonly string[];
  /** Only count what would be removed. */
  dryRun: boolean;
}

export interface PrunePosition {
  startedAt: number;
  createdSeq: number;
}

/**
 * Why an ended task stays: its parent has not been told; a follow-up is queued for it; its work item has worktrees or
 * work that is not merged; it launched a task that is live or still to be reported to it; another task of its batch is
 * live; a task waits for it; it has the newest event of the feed.
 */
export type PruneObstacle = "notice" | "follow_up" | "attempt" | "parent" | "batch" | "after" | "newest";

export interface PruneStep {
  /** The number of rows by table, `tasks` among them. */
  removed: Readonly<Record<string, number>>;
  /** The number of tasks that are old enough and stay, by reason. */
  kept: Readonly<Partial<Record<PruneObstacle, number>>>;
  /** Null if there are no more. */
  next: PrunePosition | null;
}

/** What was removed from the store in all its time. */
export interface Pruned {
  tasks: number;
  /** The highest seq of a removed entry of the feed. */
  seq: number;
}

/** What can be done inside one write transaction. It must not wait for anything but the store. */
export interface Transaction {
  task(id: string): Promise<Task | null>;
  /**
   * Runs `transition` on the stored task and writes the result. With `expected`, a live task of another owner or fence
   * is left alone (`other_owner`). A refusal ends the whole transaction: nothing is written, and `write` returns the
   * refusal. Rejects with `over_budget` if a run would begin that its budgets leave nothing for.
   */
  apply(id: string, event: TaskEvent, expected?: ExpectedOwner): Promise<Applied>;
  /** The newest batch of a parent: among the tasks and launches of one message, or among the live ones. */
  batchOf(parentSessionId: string, among: { messageId: string } | "live"): Promise<string | null>;
  /** Rejects with `over_budget` if a task like this would not fit into its budgets now. */
  assertFits(task: NewTask, at: number): Promise<void>;
  openLaunch(launch: Launch): Promise<void>;
  /** False if it was already closed, or if `by` is given and a registered instance other than that owns it. */
  closeLaunch(id: string, by?: string): Promise<boolean>;
  putParent(parent: Parent): Promise<void>;
  /** Removes a follow-up from its queue; false if it is no longer there. */
  dequeueFollowUp(id: string): Promise<boolean>;
  /** Queues the run of a task that this transaction creates without a session. `queue.open` was called for it. */
  enqueue(run: QueuedRun): Promise<void>;
  /** How many runs wait for a runner, or for other tasks, counted up to `most`. */
  waitingRuns(most: number): Promise<number>;
  /** Those that exist. Nobody changes them until the transaction is over. */
  tasks(ids: readonly string[]): Promise<Task[]>;
  /** `enqueue` of a run that nobody may begin yet. `settle` follows. */
  enqueueHeld(run: QueuedRun): Promise<void>;
  /**
   * Keeps others from beginning a run, so that its task can be changed; `settle` follows. One transaction at a time.
   * False if somebody is about to begin it, or it has begun.
   */
  holdAgain(taskId: string): Promise<boolean>;
  /** Whether the task has a queued run that any machine may begin, now or as a retry. */
  mayBeginAnywhere(taskId: string): Promise<boolean>;
  /** Begins to wait for what a task with a held run starts after. Returns the task: it may be startable, or over. */
  settle(taskId: string, at: number): Promise<Task | null>;
  /** What those of these tasks wait for whose runs are held. */
  predecessorsOf(taskIds: readonly string[]): Promise<{ taskId: string; predecessorId: string }[]>;
  /** How many tasks wait for that one, counted up to `most`. */
  successors(taskId: string, most: number): Promise<number>;
  /**
   * Ends a claim, because its run begins: last in the transaction that gives the task its session. If the claim was
   * lost, or the task's owner is not registered, the whole transaction is refused (`other_owner`).
   */
  begin(claim: RunClaim): Promise<void>;
}

export interface Store {
  /** Projects, work items, attempts. A work item's status changes in the transactions of its attempts' tasks. */
  readonly board: BoardRecords;
  /** Tokens for other machines, and the audit log. */
  readonly access: AccessRecords;
  /** Runs that wait for any runner. */
  readonly queue: RunQueue;
  /** Who does them. */
  readonly runners: RunnerRecords;
  /** What one process asks another to do. */
  readonly calls: RemoteCallRecords;
  /** What ended runs show, for readers on other machines. */
  readonly transcripts: TranscriptRecords;
  /** What tasks may use. What they use is counted in the transactions of their events. */
  readonly budgets: BudgetRecords;
  /** Programs that are told how what they launched ended. */
  readonly followers: FollowerRecords;
  /** What people are told outside of the program. */
  readonly notifications: NotificationRecords;

  /**
   * Runs `work` in one write transaction; it may be rerun from its start if the database was busy. If an event in it is
   * refused, nothing is written, and the refusal is returned. If it rejects with `store_unavailable`, it may be stored
   * all the same, where the database could not be reached any more.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | Refused>;
  /**
   * `write` for a single event. `spans`: what the event's run spent its time on, all of it; stored if the event is.
   */
  apply(id: string, event: TaskEvent, expected?: ExpectedOwner, spans?: readonly WorkSpan[]): Promise<Transition>;

  task(id: string): Promise<Task | null>;
  /** The task that runs in a session. */
  taskOfSession(sessionId: string): Promise<Task | null>;
  /** A page of tasks. Its cost depends on the page, not on how many tasks are stored. */
  tasks(query: TaskQuery): Promise<TaskPage>;
  /** The tasks that match at one moment, more of them than a page: one statement, so that none is missed or twice. */
  selectTasks(query: Omit<TaskQuery, "offset" | "textChars">): Promise<TaskSelection>;
  /** The owners of live tasks. Its cost depends on how many owners there are. */
  owners(): Promise<string[]>;
  /** Live tasks that have no owner and do not wait for a runner; at most 200. */
  ownerless(): Promise<Task[]>;
  /** The tasks that need a person. */
  inboxTasks(query: InboxQuery): Promise<InboxTasks>;
  /** The runs of all tasks of a batch, oldest start first; at most `limit` (default and maximum 5,000). */
  batchRuns(batchId: string, limit?: number): Promise<RunSpan[]>;
  /** The runs of a task, newest first; at most `limit` (default 20). */
  runs(taskId: string, limit?: number): Promise<Run[]>;
  /** One run of a task. */
  run(taskId: string, number: number): Promise<Run | null>;

  /** What runs spent their time on, newest run first. */
  spans(query: SpanQuery): Promise<StoredSpans[]>;

  /** What was said to a run of a task, in order; without a run, the newest 100 messages of all runs. */
  steering(taskId: string, run?: number): Promise<SteeringMessage[]>;
  steeringMessage(id: string): Promise<SteeringMessage | null>;

  /** The totals of each agent's tasks, by the agent's name; at most 1,000 agents. Cheap: stored, not counted. */
  agentTotals(): Promise<AgentTotals[]>;
  /** What started and ended in a window of time. Rejects more than 500 buckets (`invalid_input`). */
  history(query: HistoryQuery): Promise<HistoryCounts>;
  /** What the tasks used that started in a window, by time and model, oldest first; at most 5,000 rows. */
  usage(query: UsageQuery): Promise<UsageRow[]>;

  /** Entries after `seq` in order; at most `limit` (default 500). Progress that was superseded is left out. */
  feed(after: number, limit?: number): Promise<FeedEntry[]>;
  /** The entries of these tasks after one seq and before another, in order; at most `limit` (default 500). */
  entriesOf(
    taskIds: readonly string[],
    between: { after: number; before: number },
    limit?: number,
  ): Promise<FeedEntry[]>;
  /** The newest events of a task that have one of these types, newest first; at most 500. */
  eventsOf(taskId: string, types: readonly TaskEventType[]): Promise<TaskEvent[]>;
  /** The seq of the newest entry, even if that was removed. Never decreases. */
  lastSeq(): Promise<number>;
  /** Calls back, soon and coalesced, after commits of any process. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;

  /**
   * Registers it, with a lease of that length by the database's clock. By default it has none, and is judged by its
   * process and its heartbeat.
   */
  addInstance(instance: Instance, leaseMs?: number | null): Promise<void>;
  /** Moves the instance's heartbeat and renews its lease; false if there is no such instance, or its lease was over. */
  beat(id: string, leaseMs?: number | null): Promise<boolean>;
  /**
   * For one that ends, or whose process is certainly gone. From now on, others may take over what it has; what it
   * claimed in the queue and did not begin waits again.
   */
  endInstance(id: string): Promise<void>;
  /**
   * The same only if its lease is over, which the database decides in the same statement. False if it is still
   * registered.
   */
  expireInstance(id: string): Promise<boolean>;
  /** Instances that have not ended properly; some of them may be dead. */
  instances(): Promise<Instance[]>;

  /** Launches that have no task yet, oldest first; at most 200, after the given one. */
  launches(after?: Pick<Launch, "at" | "id">): Promise<Launch[]>;
  closeLaunch(id: string, by?: string): Promise<boolean>;

  putParent(parent: Parent): Promise<void>;
  parent(sessionId: string): Promise<Parent | null>;

  /** Parents that have notices in `pending` or `sending`, by id; at most 200, after the given one. */
  parentsWithNotices(after?: string): Promise<string[]>;
  /** Notices of a parent in one state, oldest first; at most `limit` (default 100). */
  notices(parentSessionId: string, state: NoticeState, limit?: number): Promise<Notice[]>;
  /** The newest notice about a task; null if there never was one. */
  lastNotice(taskId: string): Promise<Notice | null>;
  /**
   * Claims pending notices of a parent (oldest first, at most `limit`) for one message. Leaves those alone that wait
   * for the other tasks of their batch. Empty if there are none, or if another group of this parent is being sent.
   */
  claimNotices(parentSessionId: string, claim: NoticeClaim): Promise<Notice[]>;
  /**
   * Takes over a group whose message may have arrived, unchanged; empty if another process was faster, or its sender is
   * registered.
   */
  reclaimNotices(messageId: string, claim: { sender: string; from: NoticeSender; counts: boolean }): Promise<Notice[]>;
  /**
   * The result of an attempt: delivered, dropped with its reason, pending again for another message, or still
   * `sending`: then it is unknown whether the message arrived, so the group keeps its message id but has no sender, and
   * the process that handles the parent may take it over. False, and without effect, if the group has another sender or
   * fence by now.
   */
  settleNotices(
    messageId: string,
    from: NoticeSender,
    outcome: { state: NoticeState; reason: string | null; at: number; nextTryAt?: number },
  ): Promise<boolean>;
  /** Drops the waiting notices of a parent that will never read them. */
  dropNotices(parentSessionId: string, reason: string, at: number): Promise<void>;
  /** Makes the undelivered notices about a task due again, dropped ones included. Returns how many. */
  reopenNotices(taskId: string): Promise<number>;

  /**
   * Removes some of the ended tasks that may go, with all their rows and entries of the feed, in one short transaction.
   * Repeat it with `next` until that is null; pause in between, so that others can write.
   */
  prune(request: PruneRequest): Promise<PruneStep>;
  /** When the oldest of the `count` newest tasks started; null if there are fewer. */
  startOfNewest(count: number): Promise<number | null>;
  /** A reader of the feed that is behind `seq` may have missed the end of tasks that are gone. */
  pruned(): Promise<Pruned>;

  close(): Promise<void>;
}
