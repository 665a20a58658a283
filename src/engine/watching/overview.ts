/**
 * What anyone may see: the tasks of all processes on the store, groups and figures. Only reads, and only what a page or
 * a total needs. Shows tasks of all parents; an engine shows a parent its own.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { type InboxEntry, inboxOf } from "../../model/inbox.ts";
import { coalesced } from "../../model/live-run/work-spans.ts";
import type { Message } from "../../model/message.ts";
import type { Tokens } from "../../model/progress.ts";
import { isLive, type Run, STATUSES, type Status, type Task } from "../../model/task.ts";
import { COURSE_TYPES, courseOf, type TaskCourse } from "../../model/task-course.ts";
import type { StoredNotification } from "../../store/notifications/records.ts";
import type {
  AgentTotals,
  Notice,
  RunSpan,
  Store,
  StoredSpans,
  TaskPage,
  TaskQuery,
  TaskSelection,
  UsageQuery,
  UsageRow,
} from "../../store/store.ts";
import { AuditLog } from "../access/audit-log.ts";
import { unpacked } from "../transcripts/packed.ts";
import { BoardChanges } from "./board-changes.ts";
import type { WatchContext } from "./changes.ts";
import { TaskChanges, type TaskChangesListener } from "./task-changes.ts";

const PAGE = 200;
const GROUP_TASKS = 1000;
const GROUP_RUNS = 5000;
const RUNS = 200;
const GROUP_SPANS = 1000;
/** Of all runs together; each has its least. */
const ALL_SPANS = 20_000;
const LEAST_SPANS = 10;
/** Upper bounds of the duration of runs, in ms, as people would group them. */
const DURATION_BOUNDS = [1, 5, 15, 30, 60, 120, 300, 900, 3600].map((seconds) => seconds * 1000);

export interface DurationFigures {
  avg: number;
  max: number;
  min: number;
  count: number;
}

export interface AgentFigures {
  agent: string;
  tasks: number;
  active: number;
  byStatus: Record<Status, number>;
  toolCalls: number;
  tokens: Tokens;
  cost: number;
  duration: DurationFigures;
}

export interface Figures {
  totalTasks: number;
  /** Of these only runs, tools, tokens, cost and durations are still counted. */
  removedTasks: number;
  activeTasks: number;
  byStatus: Record<Status, number>;
  byAgent: Record<string, number>;
  duration: DurationFigures;
  agents: AgentFigures[];
}

export interface Group {
  id: string;
  tasks: Task[];
  runs: RunSpan[];
  truncated: boolean;
  byStatus: Record<Status, number>;
  total: number;
  toolCalls: number;
  tokens: Tokens;
  cost: number;
  startedAt: number;
  /** Null while one of its tasks is live. */
  endedAt: number | null;
}

export class Overview {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  tasks(query: TaskQuery): Promise<TaskPage> {
    return this.#store.tasks(query);
  }

  selectTasks(query: Parameters<Store["selectTasks"]>[0]): Promise<TaskSelection> {
    return this.#store.selectTasks(query);
  }

  /** What needs a person, oldest first. `isTruncated`: there are more than the store reads at once. */
  async inbox({ failedAfter }: { failedAfter: number }): Promise<{ entries: InboxEntry[]; isTruncated: boolean }> {
    const { waiting, failed, conflicts } = await this.#store.inboxTasks({ failedAfter, limit: PAGE });
    const approvals = await this.#store.board.approvals("requested", { limit: PAGE, after: null });
    const budgets = await this.#store.budgets.list({ usedUpAfter: failedAfter, limit: PAGE });
    const stopped = await this.#store.budgets.stopped(budgets.map(({ id }) => id));
    const isTruncated = [waiting, failed, conflicts, approvals, budgets].some(({ length }) => length === PAGE);
    return { entries: inboxOf({ waiting, failed, conflicts, approvals, budgets, stopped }), isTruncated };
  }

  /** What people outside were told, newest first. */
  notifications(query: Parameters<Store["notifications"]["list"]>[0]): Promise<StoredNotification[]> {
    return this.#store.notifications.list(query);
  }

  /** Whether an attempt of the board has this id; its tasks have it as the id of their batch. */
  async isAttempt(id: string): Promise<boolean> {
    return (await this.#store.board.attempt(id)) !== null;
  }

  async task(id: string): Promise<Task> {
    const task = await this.#store.task(id);
    if (task) return task;
    throw new AsyncAgentsError(
      "task_not_found",
      `There is no task "${id.slice(0, 100)}": the id is wrong, or the task was pruned. The list of tasks shows the ids.`,
    );
  }

  /** The newest notice about a task. Null if there never was one for its parent. */
  notice(id: string): Promise<Notice | null> {
    return this.#store.lastNotice(id);
  }

  /** What was kept of a task's conversation, oldest message first; null if nothing was. */
  async keptConversation(id: string): Promise<Message[] | null> {
    const transcript = await this.#store.transcripts.get(id, "conversation");
    return transcript === null ? null : unpacked<Message[]>(transcript.content);
  }

  /** When a task began to work, and how what it asked was answered. */
  async course(task: Task): Promise<TaskCourse> {
    return courseOf(task, await this.#store.eventsOf(task.id, COURSE_TYPES));
  }

  /**
   * What the runs of a task or a batch spent their time on, newest run first, with at most that many spans each, and
   * fewer where there are many runs.
   */
  async spans(of: { taskId: string } | { batchId: string }, most: number): Promise<StoredSpans[]> {
    const limit = "taskId" in of ? RUNS : GROUP_SPANS;
    const runs = await this.#store.spans({ ...of, limit });
    const each = Math.max(LEAST_SPANS, Math.min(most, Math.floor(ALL_SPANS / runs.length)));
    return runs.map((run) => ({ ...run, spans: coalesced(run.spans, each) }));
  }

  async runs(id: string): Promise<Run[]> {
    const { id: taskId } = await this.task(id);
    return this.#store.runs(taskId, RUNS);
  }

  /** Reports what happens after it is started, in order, whichever process did it. */
  watch(context: Omit<WatchContext, "store">, listener: TaskChangesListener): TaskChanges {
    return new TaskChanges({ ...context, store: this.#store }, listener);
  }

  /** Reports changes of the board after it is started. */
  watchBoard(context: Omit<WatchContext, "store">, listener: () => void): BoardChanges {
    return new BoardChanges({ ...context, store: this.#store }, listener);
  }

  /** The log of who changes what in this store. */
  auditLog(context: { now(): number }): AuditLog {
    return new AuditLog({ ...context, store: this.#store });
  }

  /** The position of the feed. What is read later includes everything up to it. */
  lastSeq(): Promise<number> {
    return this.#store.lastSeq();
  }

  /** How many tasks were ever pruned: lists and figures change with it, and the feed does not. */
  async prunedTasks(): Promise<number> {
    return (await this.#store.pruned()).tasks;
  }

  async taskCount(): Promise<number> {
    return (await this.#store.tasks({ limit: 1, textChars: 0 })).total;
  }

  async group(id: string, textChars: number): Promise<Group> {
    const group: Group = {
      id,
      tasks: [],
      runs: [],
      truncated: false,
      byStatus: countsOf(() => 0),
      total: 0,
      toolCalls: 0,
      tokens: noTokens(),
      cost: 0,
      startedAt: Number.POSITIVE_INFINITY,
      endedAt: Number.NEGATIVE_INFINITY,
    };
    for (let read = PAGE; read === PAGE; ) {
      const page = await this.#store.tasks({ batchId: id, limit: PAGE, offset: group.total, textChars });
      for (const task of page.tasks) addToGroup(group, task);
      read = page.tasks.length;
    }
    if (group.total === 0) {
      throw new AsyncAgentsError("group_not_found", `There is no task group "${id.slice(0, 100)}".`);
    }
    group.runs = await this.#store.batchRuns(id, GROUP_RUNS);
    group.truncated = group.total > group.tasks.length || group.runs.length === GROUP_RUNS;
    return group;
  }

  async figures(): Promise<Figures> {
    const agents = (await this.#store.agentTotals()).map(agentFigures);
    return {
      totalTasks: sum(agents, ({ tasks }) => tasks),
      removedTasks: await this.prunedTasks(),
      activeTasks: sum(agents, ({ active }) => active),
      byStatus: countsOf((status) => sum(agents, (agent) => agent.byStatus[status])),
      byAgent: Object.fromEntries(agents.map(({ agent, tasks }) => [agent, tasks])),
      duration: joinDurations(agents.map(({ duration }) => duration)),
      agents,
    };
  }

  usage(window: UsageQuery): Promise<UsageRow[]> {
    return this.#store.usage(window);
  }

  history(window: { from: number; to: number; bucketMs: number }) {
    return this.#store.history({ ...window, durationBounds: DURATION_BOUNDS });
  }
}

function addToGroup(group: Group, task: Task): void {
  const { progress } = task;
  if (group.tasks.length < GROUP_TASKS) group.tasks.push(task);
  group.total++;
  group.byStatus[task.status]++;
  group.toolCalls += progress.toolCalls;
  group.cost += progress.cost;
  for (const kind of Object.keys(group.tokens) as (keyof Tokens)[]) group.tokens[kind] += progress.tokens[kind];
  group.startedAt = Math.min(group.startedAt, task.startedAt);
  if (task.completedAt === null) group.endedAt = null;
  else if (group.endedAt !== null) group.endedAt = Math.max(group.endedAt, task.completedAt);
}

function agentFigures(totals: AgentTotals): AgentFigures {
  const { agent, byStatus, toolCalls, tokens, cost, endedRuns: count } = totals;
  const active = sum(STATUSES.filter(isLive), (status) => byStatus[status]);
  return {
    agent,
    byStatus,
    toolCalls,
    tokens,
    cost,
    active,
    tasks: sum(STATUSES, (status) => byStatus[status]),
    duration: {
      avg: count === 0 ? 0 : totals.durationSum / count,
      max: count === 0 ? 0 : totals.durationMax,
      min: count === 0 ? 0 : totals.durationMin,
      count,
    },
  };
}

function joinDurations(all: readonly DurationFigures[]): DurationFigures {
  const some = all.filter(({ count }) => count > 0);
  const count = sum(some, (each) => each.count);
  if (count === 0) return { avg: 0, max: 0, min: 0, count: 0 };
  return {
    avg: sum(some, (each) => each.avg * each.count) / count,
    max: Math.max(...some.map(({ max }) => max)),
    min: Math.min(...some.map(({ min }) => min)),
    count,
  };
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function countsOf(of: (status: Status) => number): Record<Status, number> {
  return Object.fromEntries(STATUSES.map((status) => [status, of(status)])) as Record<Status, number>;
}

function noTokens(): Tokens {
  return { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
}
