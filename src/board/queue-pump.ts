/**
 * Dispatches queued follow-ups to their sessions, one at a time and in order, when the session is idle and the queue
 * is not on hold. A follow-up leaves the queue in the same transaction that starts its run, so it is never lost and
 * never run twice. One that cannot start stays first, with the reason, until its session changes again; a transient
 * fault is retried automatically.
 */
import { type BoardSession, isQueueHeld } from "../model/board.ts";
import { AsyncAgentsError, type ErrorCode, messageOf } from "../model/errors.ts";
import { isLive } from "../model/task.ts";
import { isSameMachine } from "../process/machine.ts";
import type { FeedEntry } from "../store/store.ts";
import { assertWorktrees, STOPPED } from "./attempts/attempts.ts";
import type { BoardParts } from "./board-context.ts";

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
/** Transient faults, which go away by themselves. */
const TRANSIENT: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  "host_unavailable",
  "host_failed",
  "store_unavailable",
  "too_many_tasks",
]);
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export class QueuePump {
  readonly #parts: BoardParts;
  readonly #looks = new Set<Promise<void>>();
  readonly #retries = new Map<string, { cancel: () => void; pause: number }>();
  #stopped = false;

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  /** Checks all queues, so that those of an earlier process continue. */
  async start(): Promise<void> {
    for (const sessionId of await this.#parts.store.board.queuedSessions()) this.wake(sessionId);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { cancel } of this.#retries.values()) cancel();
    this.#retries.clear();
    while (this.#looks.size > 0) await Promise.all(this.#looks);
  }

  /** The end of a run may have made a session idle. */
  onEntry({ taskId, event }: FeedEntry): void {
    if (ENDS.has(event.type)) this.#do(taskId, () => this.#ended(taskId));
  }

  /** Checks whether the session has something to dispatch; returns immediately. */
  wake(sessionId: string): void {
    this.#do(sessionId, () => this.#check(sessionId));
  }

  /** A failure is retried: nothing else may check this queue again. */
  #do(key: string, work: () => Promise<void>): void {
    const look = work()
      .catch((thrown: unknown) => {
        this.#parts.log.error("a queue could not be looked at; it is tried again", { error: messageOf(thrown) });
        this.#retryLater(key, work);
      })
      .finally(() => this.#looks.delete(look));
    this.#looks.add(look);
  }

  async #ended(taskId: string): Promise<void> {
    const session = await this.#parts.store.board.sessionOfTask(taskId);
    this.#forget(taskId);
    if (session !== null) this.wake(session.id);
  }

  async #check(sessionId: string): Promise<void> {
    const session = await this.#parts.store.board.session(sessionId);
    if (session !== null) await this.#parts.oneAtATime.run(session.attemptId, () => this.#next(session));
  }

  async #next({ id, taskId, attemptId }: BoardSession): Promise<void> {
    const { store, desk } = this.#parts;
    const [queue, task] = await Promise.all([store.board.queue(id), store.task(taskId)]);
    const { head } = queue;
    if (this.#stopped) return;
    const isHeld = head?.error === STOPPED || (task !== null && isQueueHeld(task.run, queue.afterRun));
    // Somebody's word or the end of a run brings us back here: the pauses of earlier faults do not count then.
    if (head === null || task === null || isLive(task.status) || isHeld) return this.#forget(id);
    // The daemon of that machine looks at it.
    if (!isSameMachine(task.machine, this.#parts.machine ?? "")) return this.#forget(id);
    try {
      const attempt = await store.board.attempt(attemptId);
      if (attempt !== null) assertWorktrees(attempt);
      const engine = await desk.engine(task.host, task.directory);
      const agent = head.variant === null ? {} : { agent: head.variant };
      const request = { prompt: head.prompt, followUpId: head.id, allow: ["error", "cancelled"] as const, ...agent };
      await engine.resumeTask(task, request);
      this.#forget(id);
    } catch (thrown) {
      await this.#refused(id, head.id, thrown);
    }
  }

  async #refused(sessionId: string, followUpId: string, thrown: unknown): Promise<void> {
    const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : null;
    // Another process runs the task or has already dispatched the follow-up. The end of that run brings us back here.
    if (code === "task_running" || code === "task_resuming" || code === "follow_up_gone" || this.#stopped) return;
    const { store, log } = this.#parts;
    log.error("a queued follow-up could not begin; it stays queued", {
      session: sessionId,
      followUp: followUpId,
      error: messageOf(thrown),
    });
    await store.board.refuseFollowUp(sessionId, followUpId, messageOf(thrown));
    if (TRANSIENT.has(code)) this.#retryLater(sessionId, () => this.#check(sessionId));
  }

  #retryLater(key: string, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const before = this.#retries.get(key);
    before?.cancel();
    const first = this.#parts.retryPause ?? FIRST_PAUSE_MS;
    const pause = before === undefined ? first : Math.min(before.pause * 2, LONGEST_PAUSE_MS);
    const cancel = this.#parts.after(pause, () => this.#do(key, work), { background: true });
    this.#retries.set(key, { cancel, pause });
  }

  #forget(key: string): void {
    this.#retries.get(key)?.cancel();
    this.#retries.delete(key);
  }
}
