/**
 * Follows the tasks of Claude sessions from their messages. Edges (started, progress, updated, notification) and levels (the list
 * of background tasks) are merged; the first word about an end decides; what comes twice or late changes nothing.
 * It starts nothing and reads no stream by itself: it is fed with `track`.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { BoundedStream } from "./bounded-stream.ts";
import { TaskNotFoundError } from "./errors.ts";
import type { BackgroundTasksChangedMessage, ClaudeMessage, TaskStartedMessage } from "./message-schemas.ts";
import { isMessage, parseMessage } from "./parse-message.ts";
import { RecentKeys } from "./recent-keys.ts";
import { Task, type TaskControl } from "./task.ts";
import type { TaskEvent } from "./task-events.ts";
import { type RunName, TaskRecord } from "./task-record.ts";
import type { Patience, TaskOutcome, TaskRun } from "./task-run.ts";
import { taskOutputSchema } from "./tool-schemas.ts";
import type { WaitOptions } from "./waiting.ts";

/** Called when a background task has ended. */
export type TaskNotificationHandler = (outcome: TaskOutcome, task: Task) => unknown;

/** How a TaskManager is set up; all of it can be left out. */
export interface TaskManagerOptions {
  /** The session, for cancel() and resume(). The SDK's query will do for cancel(). */
  control?: TaskControl;
  /** Called once for each run of a background task that has ended, `lost` ones too. What it throws is an event, and no more. */
  onTaskNotification?: TaskNotificationHandler;
  /** So many ended tasks are kept; the oldest go first. 1,000 when absent. */
  keepEnded?: number;
  /** So many events wait for a slow reader of events(). 1,000 when absent. */
  eventBuffer?: number;
  /** How long to wait for a notification after the word that a task has ended, in milliseconds; 1,000 when absent. */
  notificationWait?: number;
  /** How long a task may be missing in the list of background tasks before it is lost, in milliseconds; 5,000 when absent. */
  listWait?: number;
}

/** Somebody waits for a task to be continued. */
interface NextRun {
  taskId: string;
  resolve(): void;
  reject(reason: Error): void;
}

interface Entry {
  record: TaskRecord;
  task: Task;
}

const KEPT_IDS = 10_000;

/** The tasks of one session, or of several one after the other. */
export class TaskManager {
  readonly #options: TaskManagerOptions;
  readonly #patience: Patience;
  readonly #entries = new Map<string, Entry>();
  /** Ended tasks that are kept, oldest end first. */
  readonly #ended = new Set<string>();
  readonly #seen = new RecentKeys<true>(KEPT_IDS);
  /** The newest run of each task that was let go, so that a late word about it does not bring it back. */
  readonly #forgotten = new RecentKeys<string>(KEPT_IDS);
  readonly #streams = new Set<BoundedStream<TaskEvent>>();
  readonly #onEnded = new Set<(task: Task, outcome: TaskOutcome) => void>();
  readonly #nextRuns = new Set<NextRun>();
  #isClosed = false;

  constructor(options: TaskManagerOptions = {}) {
    this.#options = options;
    this.#patience = { detailsMs: options.notificationWait ?? 1_000, listMs: options.listWait ?? 5_000 };
  }

  /**
   * Takes in a message of the session: give it every one. Gives the task that the message is about, if it is about one.
   * Throws MessageParseError where a message about tasks is malformed; nothing has changed then.
   */
  track(value: unknown): Task | undefined {
    const message = parseMessage(value);
    if (this.#isClosed || this.#isRepeated(message)) return undefined;
    if (isMessage(message, "background_tasks_changed")) return this.#takeList(message);
    if (isMessage(message, "task_started")) return this.#takeStart(message);
    if (isMessage(message, "task_progress") || isMessage(message, "task_updated")) return this.#takeChange(message);
    if (isMessage(message, "task_notification")) {
      const found = this.#open(message.task_id, { runId: message.run_id });
      found?.run.notify(message);
      return found?.entry.task;
    }
    return message.type === "user" ? this.#takeToolResult(message.tool_use_result) : undefined;
  }

  /** The task of that id. Throws TaskNotFoundError. */
  get(taskId: string): Task {
    const task = this.find(taskId);
    if (!task) throw new TaskNotFoundError(taskId);
    return task;
  }

  /** The task of that id, if there is one. */
  find(taskId: string): Task | undefined {
    return this.#entries.get(taskId)?.task;
  }

  /** The tasks that are known, in the order in which they were first seen; only live ones where `live` is set. */
  list({ live = false }: { live?: boolean } = {}): Task[] {
    const entries = [...this.#entries.values()];
    return entries.filter(({ record }) => !live || record.live.length > 0).map(({ task }) => task);
  }

  /** How the newest run of a task ends. Rejects with TaskNotFoundError, TaskTimeoutError or the signal's reason. */
  async wait(taskId: string, options: WaitOptions = {}): Promise<TaskOutcome> {
    return this.get(taskId).wait(options);
  }

  /** What happens from now on, until close() or until you leave the loop. */
  events(): AsyncIterableIterator<TaskEvent> {
    const stream: BoundedStream<TaskEvent> = new BoundedStream(
      this.#options.eventBuffer ?? 1_000,
      (count): TaskEvent => ({ type: "events.dropped", count }),
      () => this.#streams.delete(stream),
    );
    if (this.#isClosed) stream.end();
    else this.#streams.add(stream);
    return stream;
  }

  /** The process of the session is gone: every task that has not ended is lost, and its waiters know at once. */
  processEnded(reason: string): void {
    for (const { record } of this.#entries.values()) for (const run of record.unsettled) run.lose(reason);
    for (const waiting of this.#nextRuns) {
      waiting.reject(new AsyncAgentsError("host_unavailable", `Task ${waiting.taskId} cannot go on: ${reason}.`));
    }
  }

  /** Ends events(); what is still live is lost. Nothing is tracked after it. */
  close(): void {
    if (this.#isClosed) return;
    this.processEnded("the TaskManager was closed");
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  /** Calls `act`, now or later, each time that a run ends, foreground ones too. The result takes it off again. */
  onEnded(act: (task: Task, outcome: TaskOutcome) => void): () => void {
    this.#onEnded.add(act);
    return () => this.#onEnded.delete(act);
  }

  /** Tells subscribers what does not come from a message. */
  report(event: Extract<TaskEvent, { type: "handler.failed" | "message.rejected" }>): void {
    this.#emit(event);
  }

  #isRepeated(message: ClaudeMessage): boolean {
    const uuid = message.type === "system" ? message.uuid : undefined;
    if (typeof uuid !== "string") return false;
    return !this.#seen.add(uuid, true);
  }

  #takeStart(message: TaskStartedMessage): Task | undefined {
    const found = this.#open(message.task_id, { runId: message.run_id, startUuid: message.uuid });
    if (!found) return undefined;
    found.run.start(message);
    this.#announce(found.entry, found.run);
    return found.entry.task;
  }

  #takeChange(message: Extract<ClaudeMessage, { subtype: "task_progress" | "task_updated" }>): Task | undefined {
    const found = this.#open(message.task_id, { runId: message.run_id });
    if (!found) return undefined;
    const { run, entry } = found;
    const { task } = entry;
    this.#announce(entry, run);
    if (isMessage(message, "task_updated")) {
      const wasLive = run.isLive;
      run.update(message);
      if (wasLive) this.#emit({ type: "task.updated", task, patch: message.patch });
    } else if (run.advance(message)) {
      const { usage, last_tool_name: lastTool, summary } = message;
      this.#emit({ type: "task.progress", task, usage, lastTool, summary });
    }
    return task;
  }

  #takeList({ tasks }: BackgroundTasksChangedMessage): undefined {
    const listed = new Set<TaskRun>();
    for (const entry of tasks) {
      const found = this.#open(entry.task_id, { runId: entry.run_id });
      if (!found) continue;
      listed.add(found.run);
      if (found.run.isLive) found.run.learn(entry);
      found.run.list(true);
    }
    for (const { record } of this.#entries.values()) {
      for (const run of record.live) if (!listed.has(run)) run.list(false);
    }
  }

  /** The result of the Agent tool names the output file while the agent still works. */
  #takeToolResult(value: unknown): Task | undefined {
    const parsed = taskOutputSchema.safeParse(value);
    if (!parsed.success || parsed.data.status !== "async_launched") return undefined;
    const entry = this.#entries.get(parsed.data.agentId);
    const run = entry?.record.current;
    if (run) run.outputFile ??= parsed.data.outputFile;
    return entry?.task;
  }

  #open(taskId: string, name: RunName): { entry: Entry; run: TaskRun } | undefined {
    const entry = this.#entries.get(taskId) ?? this.#makeEntry(taskId);
    const before = entry.record.current;
    const run = entry.record.run(name);
    if (!run) return undefined;
    this.#entries.set(taskId, entry);
    if (before !== entry.record.current) {
      if (run.isLive) this.#ended.delete(taskId);
      for (const waiting of this.#nextRuns) if (waiting.taskId === taskId) waiting.resolve();
    }
    return { entry, run };
  }

  #makeEntry(taskId: string): Entry {
    const record = new TaskRecord(taskId, this.#patience, this.#forgotten.get(taskId), (run, outcome) =>
      this.#settled(entry, run, outcome),
    );
    const context = { control: this.#options.control, nextRun: this.#nextRun.bind(this) };
    const entry: Entry = { record, task: new Task(record, context) };
    return entry;
  }

  #nextRun(taskId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: NextRun = { taskId, resolve, reject };
      this.#nextRuns.add(waiting);
      signal.addEventListener("abort", () => this.#nextRuns.delete(waiting));
    });
  }

  #announce(entry: Entry, run: TaskRun): void {
    if (run.isAnnounced || !run.isLive) return;
    run.isAnnounced = true;
    this.#emit({ type: "task.started", task: entry.task, runId: run.isNamed ? run.key : undefined });
  }

  #settled(entry: Entry, run: TaskRun, outcome: TaskOutcome): void {
    const { task, record } = entry;
    this.#emit({ type: "task.ended", task, outcome });
    for (const act of [...this.#onEnded]) act(task, outcome);
    if (run.isBackground !== false) this.#callHandler(outcome, task);
    if (record.unsettled.length === 0) this.#keepEnded(task.id);
  }

  #callHandler(outcome: TaskOutcome, task: Task): void {
    const failed = (error: unknown) => this.#emit({ type: "handler.failed", handler: "onTaskNotification", error });
    try {
      Promise.resolve(this.#options.onTaskNotification?.(outcome, task)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #keepEnded(taskId: string): void {
    this.#ended.delete(taskId);
    this.#ended.add(taskId);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= (this.#options.keepEnded ?? 1_000)) return;
      this.#ended.delete(oldest);
      this.#forgotten.add(oldest, this.#entries.get(oldest)?.record.current?.key ?? "");
      this.#entries.delete(oldest);
    }
  }

  #emit(event: TaskEvent): void {
    for (const stream of this.#streams) stream.push(event);
  }
}
