/**
 * One run of a task: what is known about it, and how it ended. The first message about the end decides the status; a
 * later one can only add details. A run is settled when nothing more is expected: then its waiters are told, exactly
 * once.
 */
import type {
  NotifiedStatus,
  TaskNotificationMessage,
  TaskProgressMessage,
  TaskStartedMessage,
  TaskUpdatedMessage,
  TaskUsage,
} from "../messages/message-schemas.ts";

/** How a task ended. `lost`: the process died or stopped reporting the task, so its outcome is unknown. */
export type TaskStatus = NotifiedStatus | "lost";

/** The end of one run of a task. */
export interface TaskOutcome {
  taskId: string;
  /** Absent if the CLI does not send one. */
  runId?: string;
  status: TaskStatus;
  /** The last text of a completed agent, the error of a failed one, or else what happened to it. */
  summary: string;
  /** Known for completed agents; for others the last reported progress, if any. */
  usage?: TaskUsage;
  outputFile?: string;
  /** The reason for an unusual end. */
  reason?: string;
}

/** How long to wait for messages that usually follow. */
export interface RunTimeouts {
  /** From a task's end to its notification, which has the summary. */
  detailsMs: number;
  /** From a task's removal from the list of background tasks to the message about its end. */
  listMs: number;
}

type Facts = Partial<
  Pick<
    TaskStartedMessage,
    "description" | "prompt" | "subagent_type" | "task_type" | "tool_use_id" | "parent_task_id" | "ambient"
  >
>;

const ENDS: Partial<Record<string, NotifiedStatus>> = { completed: "completed", failed: "failed", killed: "stopped" };

/** The state of one run; only messages change it. */
export class TaskRun {
  /** Its run id; generated if the CLI does not send one. */
  key = "";
  isNamed: boolean;
  startUuid: string | undefined;
  facts: Facts = {};
  /** Undefined until it is known. */
  isBackground: boolean | undefined;
  isListed = false;
  /** True once subscribers know about it. */
  isAnnounced = false;
  progress: TaskProgressMessage | undefined;
  outputFile: string | undefined;
  /** The session that last reported it: only that session's list can miss it. */
  sessionId: string | undefined;
  /** The agent's last text, if the session forwards it. */
  lastText: string | undefined;
  readonly settled: Promise<TaskOutcome>;
  readonly #taskId: string;
  readonly #timeouts: RunTimeouts;
  readonly #onSettled: (run: TaskRun, outcome: TaskOutcome) => void;
  readonly #resolve: (outcome: TaskOutcome) => void;
  #end: { by: TaskStatus; text: string; reason?: string } | undefined;
  #notification: TaskNotificationMessage | undefined;
  /** How it ended in an earlier process: nothing is added to it. */
  #recalled: TaskOutcome | undefined;
  #isSettled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    taskId: string,
    runId: string | undefined,
    timeouts: RunTimeouts,
    onSettled: (run: TaskRun, outcome: TaskOutcome) => void,
  ) {
    this.#taskId = taskId;
    this.isNamed = runId !== undefined;
    this.#timeouts = timeouts;
    this.#onSettled = onSettled;
    let settle: (outcome: TaskOutcome) => void = () => {};
    this.settled = new Promise((resolve) => {
      settle = resolve;
    });
    this.#resolve = settle;
  }

  get isLive(): boolean {
    return this.#end === undefined;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get outcome(): TaskOutcome | undefined {
    if (this.#recalled) return this.#recalled;
    if (!this.#end) return undefined;
    const { by: status, text, reason } = this.#end;
    const notification = this.#notification;
    const usage = notification?.usage ?? this.progress?.usage;
    const outputFile = notification?.output_file || this.outputFile;
    const why = reason ?? notification?.reason;
    return {
      taskId: this.#taskId,
      ...(this.isNamed && { runId: this.key }),
      status,
      summary: notification?.summary ?? text,
      ...(usage && { usage }),
      ...(outputFile && { outputFile }),
      ...(why && { reason: why }),
    };
  }

  start(message: TaskStartedMessage): void {
    this.startUuid ??= message.uuid;
    this.isBackground ??= message.is_backgrounded;
    this.learn(message);
  }

  /** Adds facts that were not known. */
  learn(facts: Facts): void {
    const { description, prompt, subagent_type, task_type, tool_use_id, parent_task_id, ambient } = facts;
    const given = { description, prompt, subagent_type, task_type, tool_use_id, parent_task_id, ambient };
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) Object.assign(this.facts, { [name]: value });
    }
  }

  /** False if it is older than what is known. */
  advance(message: TaskProgressMessage): boolean {
    const last = this.progress?.usage?.duration_ms ?? -1;
    const isOlder = message.usage !== undefined && message.usage.duration_ms < last;
    if (!this.isLive || isOlder) return false;
    this.#stopTimer();
    this.progress = { ...message, usage: message.usage ?? this.progress?.usage };
    return true;
  }

  update({ patch }: TaskUpdatedMessage): void {
    if (patch.is_backgrounded !== undefined) this.isBackground = patch.is_backgrounded;
    if (patch.description !== undefined) this.learn({ description: patch.description });
    const end = ENDS[patch.status ?? ""];
    if (!end || !this.isLive) return;
    this.#end = { by: end, text: patch.error ?? this.facts.description ?? "" };
    this.#later(this.#timeouts.detailsMs, () => this.#settle());
  }

  /** Restores a run of an earlier process. An unfinished one is lost unless it is reported again within some time. */
  recall(outcome: TaskOutcome | undefined): void {
    this.isAnnounced = true;
    if (!outcome) {
      this.#later(this.#timeouts.listMs, () => this.lose("its process ended before it did"));
      return;
    }
    this.#end = { by: outcome.status, text: outcome.summary };
    this.#recalled = outcome;
    this.#isSettled = true;
    this.#resolve(outcome);
  }

  notify(message: TaskNotificationMessage): void {
    this.#notification ??= message;
    this.learn({ tool_use_id: message.tool_use_id, ambient: message.ambient });
    this.#end ??= { by: message.status, text: message.summary };
    this.#settle();
  }

  /** Whether the list of background tasks contains it. */
  list(isThere: boolean): void {
    if (!this.isLive) return;
    if (isThere) {
      this.#stopTimer();
      this.isListed = true;
      this.isBackground = true;
    } else if (this.isListed) {
      this.isListed = false;
      const reason = "Claude removed it from its list of background tasks and sent no notification";
      this.#later(this.#timeouts.listMs, () => this.lose(reason));
    }
  }

  /** Its outcome can no longer be known. */
  lose(reason: string): void {
    this.#end ??= { by: "lost", text: `The end of this task is not known: ${reason}.`, reason };
    this.#settle();
  }

  #settle(): void {
    this.#stopTimer();
    const { outcome } = this;
    if (this.#isSettled || !outcome) return;
    this.#isSettled = true;
    this.#resolve(outcome);
    this.#onSettled(this, outcome);
  }

  #later(ms: number, act: () => void): void {
    this.#stopTimer();
    this.#timer = setTimeout(act, ms);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
