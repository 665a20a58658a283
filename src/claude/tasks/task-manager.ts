/**
 * Follows the tasks of Claude sessions through their messages. Merges changes (started, progress, updated,
 * notification) with states (the list of background tasks); the first message about an end decides; repeated or late
 * ones change nothing. Starts nothing and reads no stream by itself: call `track` with every message.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { WaitOptions } from "../../process/deadline.ts";
import { TaskNotFoundError } from "../errors.ts";
import type { BackgroundTasksChangedMessage, ClaudeMessage, TaskStartedMessage } from "../messages/message-schemas.ts";
import { isMessage, parseMessage } from "../messages/parse-message.ts";
import { launchedOutput } from "../messages/tool-results.ts";
import { BoundedStream } from "../session/bounded-stream.ts";
import { agentText } from "./agent-text.ts";
import { RecentKeys } from "./recent-keys.ts";
import { checkSaved, type SavedTask } from "./saved-task.ts";
import { Task, type TaskControl } from "./task.ts";
import type { TaskEvent } from "./task-events.ts";
import { type RunName, TaskRecord } from "./task-record.ts";
import type { RunTimeouts, TaskOutcome, TaskRun } from "./task-run.ts";

/** Called when a background task has ended. */
export type TaskNotificationHandler = (outcome: TaskOutcome, task: Task) => unknown;

/** Options of a TaskManager, all optional. */
export interface TaskManagerOptions {
  /** The session, for cancel() and resume(). The SDK's query is enough for cancel(). */
  control?: TaskControl;
  /**
   * Called once for each run of a background task that has ended, including `lost` ones. If it throws, that is only an
   * event.
   */
  onTaskNotification?: TaskNotificationHandler;
  /** How many ended tasks to keep; the oldest are dropped first. Default 1,000. */
  keepEnded?: number;
  /** How many events to buffer for a slow reader of events(). Default 1,000. */
  eventBuffer?: number;
  /** How long to wait for a notification after a task is reported ended, in milliseconds. Default 1,000. */
  notificationWait?: number;
  /**
   * How long a task may be missing in the list of background tasks before it is lost, in milliseconds. Default 5,000.
   */
  listWait?: number;
  /** Tasks of an earlier process, as returned by save(). */
  saved?: readonly SavedTask[];
}

/** A caller that waits for a task to be continued. */
interface NextRun {
  taskId: string;
  resolve(): void;
  reject(reason: Error): void;
}

interface Entry {
  record: TaskRecord;
  task: Task;
}

/**
 * A task that was dropped. Anyone who still holds its handle keeps its record alive: then there must not be a second
 * one.
 */
interface Forgotten {
  newestRun: string;
  entry: WeakRef<Entry>;
}

const KEPT_IDS = 10_000;

/** The tasks of one session, or of several. Messages of one session do not affect tasks of another. */
export class TaskManager {
  readonly #options: TaskManagerOptions;
  readonly #timeouts: RunTimeouts;
  readonly #entries = new Map<string, Entry>();
  /** Ended tasks that are kept, oldest end first. */
  readonly #ended = new Set<string>();
  readonly #seen = new RecentKeys<true>(KEPT_IDS);
  /** Prevents late messages from bringing dropped tasks back. */
  readonly #forgotten = new RecentKeys<Forgotten>(KEPT_IDS);
  readonly #streams = new Set<BoundedStream<TaskEvent>>();
  readonly #onEnded = new Set<(task: Task, outcome: TaskOutcome) => void>();
  readonly #nextRuns = new Set<NextRun>();
  #isClosed = false;

  constructor(options: TaskManagerOptions = {}) {
    this.#options = options;
    this.#timeouts = { detailsMs: options.notificationWait ?? 1_000, listMs: options.listWait ?? 5_000 };
    for (const saved of checkSaved(options.saved ?? [])) this.#recall(saved);
  }

  /**
   * Handles a message of the session; pass in every one. Returns the task that the message concerns, if any. Throws
   * MessageParseError if a message about tasks is malformed; nothing changes then, except that a task whose
   * notification does not say how it ended is lost.
   */
  track(value: unknown): Task | undefined {
    const message = this.#parse(value);
    if (this.#isClosed || this.#isRepeated(message)) return undefined;
    if (isMessage(message, "background_tasks_changed")) return this.#onList(message);
    if (isMessage(message, "task_started")) return this.#onStart(message);
    if (isMessage(message, "task_progress") || isMessage(message, "task_updated")) return this.#onChange(message);
    if (isMessage(message, "task_notification")) {
      const found = this.#open(message, { runId: message.run_id });
      found?.run.notify(message);
      return found?.entry.task;
    }
    if (message.type === "user") return this.#onToolResult(value);
    return message.type === "assistant" ? this.#onText(value) : undefined;
  }

  /** Returns the task with that id. Throws TaskNotFoundError. */
  get(taskId: string): Task {
    const task = this.find(taskId);
    if (!task) throw new TaskNotFoundError(taskId);
    return task;
  }

  /** Returns the task with that id, if it is known. */
  find(taskId: string): Task | undefined {
    return this.#entries.get(taskId)?.task;
  }

  /** The known tasks, in the order in which they were first seen; only live ones if `live` is set. */
  list({ live = false }: { live?: boolean } = {}): Task[] {
    const entries = [...this.#entries.values()];
    return entries.filter(({ record }) => !live || record.live.length > 0).map(({ task }) => task);
  }

  /**
   * Waits for the end of a task's newest run. Rejects with TaskNotFoundError, TaskTimeoutError or the signal's reason.
   */
  async wait(taskId: string, options: WaitOptions = {}): Promise<TaskOutcome> {
    return this.get(taskId).wait(options);
  }

  /** The events from now on, until close() or until you leave the loop. */
  events(): AsyncIterableIterator<TaskEvent> {
    const stream: BoundedStream<TaskEvent> = new BoundedStream<TaskEvent>(this.#options.eventBuffer ?? 1_000, {
      describeLoss: ({ count }) => ({ type: "events.dropped", count }),
      onClosed: () => this.#streams.delete(stream),
    });
    if (this.#isClosed) stream.end();
    else this.#streams.add(stream);
    return stream;
  }

  /** The tasks as plain JSON, for the option `saved` of a later process: how they ended, and where their output is. */
  save(): SavedTask[] {
    return this.list().map((task) => task.save());
  }

  /**
   * Reports that the session's process is gone: every unfinished task is lost, and its waiters are told at once. If you
   * follow several sessions, name the one whose process it was.
   */
  processEnded(reason: string, sessionId?: string): void {
    const isConcerned = (run: TaskRun) => sessionId === undefined || run.sessionId === sessionId;
    for (const { record } of this.#entries.values()) {
      for (const run of record.unsettled.filter(isConcerned)) run.lose(reason);
    }
    if (sessionId !== undefined) return;
    for (const waiting of this.#nextRuns) {
      waiting.reject(new AsyncAgentsError("host_unavailable", `Task ${waiting.taskId} cannot continue: ${reason}.`));
    }
  }

  /** Ends events(); live tasks are lost. Nothing is tracked afterwards. */
  close(): void {
    if (this.#isClosed) return;
    this.processEnded("the TaskManager was closed");
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  /** Calls `act` whenever a run ends, including foreground ones. Returns a function that unsubscribes. */
  onEnded(act: (task: Task, outcome: TaskOutcome) => void): () => void {
    this.#onEnded.add(act);
    return () => this.#onEnded.delete(act);
  }

  /** Sends subscribers an event that does not come from a message. */
  report(event: Extract<TaskEvent, { type: "handler.failed" | "message.rejected" }>): void {
    this.#emit(event);
  }

  #isRepeated(message: ClaudeMessage): boolean {
    const uuid = message.type === "system" ? message.uuid : undefined;
    if (typeof uuid !== "string" || uuid === "") return false;
    return !this.#seen.add(uuid, true);
  }

  #onStart(message: TaskStartedMessage): Task | undefined {
    const found = this.#open(message, { runId: message.run_id, startUuid: message.uuid });
    if (!found) return undefined;
    found.run.start(message);
    this.#announce(found.entry, found.run);
    return found.entry.task;
  }

  #onChange(message: Extract<ClaudeMessage, { subtype: "task_progress" | "task_updated" }>): Task | undefined {
    const found = this.#open(message, { runId: message.run_id });
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

  #onList({ tasks, session_id }: BackgroundTasksChangedMessage): undefined {
    const listed = new Set<TaskRun>();
    for (const entry of tasks) {
      const found = this.#open({ ...entry, session_id }, { runId: entry.run_id });
      if (!found) continue;
      listed.add(found.run);
      if (found.run.isLive) found.run.learn(entry);
      found.run.list(true);
    }
    for (const { record } of this.#entries.values()) {
      // The list of one session says nothing about another's tasks.
      const missing = record.live.filter((run) => run.sessionId === session_id && !listed.has(run));
      for (const run of missing) run.list(false);
    }
  }

  /** Only the call that launched a task can name its output file: any other result is a program's output. */
  #onToolResult(value: unknown): Task | undefined {
    const launched = launchedOutput(value);
    if (!launched) return undefined;
    const entry = this.#entries.get(launched.taskId);
    const run = entry?.record.current;
    if (!run || (run.facts.tool_use_id ?? launched.toolUseId) !== launched.toolUseId) return undefined;
    run.outputFile ??= launched.outputFile;
    return entry?.task;
  }

  #onText(value: unknown): Task | undefined {
    const said = agentText(value);
    const entry = this.#entries.get(said?.taskId ?? "");
    if (!said || !entry?.record.current?.isLive) return undefined;
    entry.record.current.lastText = said.text;
    this.#emit({ type: "task.text", task: entry.task, text: said.text });
    return entry.task;
  }

  /** A task ended, but the message does not say how: the task is lost. */
  #parse(value: unknown): ClaudeMessage {
    try {
      return parseMessage(value);
    } catch (thrown) {
      const { subtype, task_id, run_id } = Object(value) as Record<string, unknown>;
      const isEnd = subtype === "task_notification" && typeof task_id === "string" && task_id !== "";
      const runId = typeof run_id === "string" ? run_id : undefined;
      if (isEnd && !this.#isClosed) this.#open({ task_id }, { runId })?.run.lose(messageOf(thrown));
      throw thrown;
    }
  }

  #open(
    { task_id: taskId, session_id }: { task_id: string; session_id?: string },
    name: RunName,
  ): { entry: Entry; run: TaskRun } | undefined {
    const isKnown = this.#entries.has(taskId);
    const entry = this.#entries.get(taskId) ?? this.#forgotten.get(taskId)?.entry.deref() ?? this.#makeEntry(taskId);
    const before = entry.record.current;
    const run = entry.record.run(name);
    // A late message about an old run does not bring a dropped task back.
    if (!run || (!isKnown && run.isSettled)) return undefined;
    if (session_id) run.sessionId = session_id;
    this.#entries.set(taskId, entry);
    if (before !== entry.record.current) {
      if (run.isLive) this.#ended.delete(taskId);
      for (const waiting of this.#nextRuns) if (waiting.taskId === taskId) waiting.resolve();
    }
    return { entry, run };
  }

  #makeEntry(taskId: string): Entry {
    const record = new TaskRecord(taskId, this.#timeouts, this.#forgotten.get(taskId)?.newestRun, (run, outcome) =>
      this.#settled(entry, run, outcome),
    );
    const context = {
      control: this.#options.control,
      nextRun: this.#nextRun.bind(this),
      startedBy: (id: string) => this.list().filter((task) => task.parentId === id),
    };
    const entry: Entry = { record, task: new Task(record, context) };
    return entry;
  }

  #recall({ id, runId, sessionId, outputFile, outcome, isBackground, ...facts }: SavedTask): void {
    const entry = this.#makeEntry(id);
    const run = entry.record.run({ runId });
    if (!run) return;
    const { description, prompt, agentType, taskType, toolUseId, parentId } = facts;
    run.learn({
      description,
      prompt,
      subagent_type: agentType,
      task_type: taskType,
      tool_use_id: toolUseId,
      parent_task_id: parentId,
    });
    run.isBackground = isBackground;
    run.sessionId = sessionId;
    run.outputFile = outputFile;
    this.#entries.set(id, entry);
    run.recall(outcome);
    if (outcome) this.#keepEnded(id);
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
      const entry = this.#entries.get(oldest);
      this.#entries.delete(oldest);
      if (!entry) continue;
      this.#forgotten.add(oldest, { newestRun: entry.record.current?.key ?? "", entry: new WeakRef(entry) });
    }
  }

  #emit(event: TaskEvent): void {
    for (const stream of this.#streams) stream.push(event);
  }
}
