/**
 * The engine of one host in one directory: connects its parts and offers what doors call. Operations for a caller see
 * only the tasks that its session launched; operations on a task are for people (`desk.ts` finds the engine). Contains
 * no rules, except for finding a task by an id that the caller gave.
 */
import { type AgentInfo, type HostEvent, type MessagePage, type Reply, replyText, replyWord } from "../hosts/host.ts";
import { type Answerer, keptTexts } from "../model/answer.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { TaskEventType } from "../model/events.ts";
import { INTERRUPTED } from "../model/evidence.ts";
import type { SteeringMessage } from "../model/steering.ts";
import { endsWait, isLive, type Task, type TaskClone } from "../model/task.ts";
import type { WaitOptions } from "../process/deadline.ts";
import type { ClaimedRun } from "../store/queue/run-queue.ts";
import type { FeedEntry, Instance, Parent, TaskPage } from "../store/store.ts";
import { assertEachAnswered, overAlready } from "./answers.ts";
import { batchIdOf } from "./batch-for.ts";
import { assertCancellable, Canceller, type CancelResult } from "./cancel.ts";
import type { EngineContext } from "./context.ts";
import { type Caller, Launcher, type LaunchRequest, PERSON, type ResumeRequest } from "./launch.ts";
import type { Member } from "./member.ts";
import { Outbox } from "./notices/outbox.ts";
import { launchClaimed } from "./queue/claimed-launch.ts";
import type { Claimer } from "./queue/claimer.ts";
import { folderClaimer } from "./queue/folder-claimer.ts";
import { Recovery } from "./recovery/recovery.ts";
import { Driver } from "./runs/driver.ts";
import { acceptSteering, untilSettled } from "./steering.ts";
import { allTasks } from "./watching/all-tasks.ts";
import { Waiter } from "./watching/waiter.ts";

/** Events after which a run of this engine may belong to another instance, be over, or have to be cancelled. */
const OTHERS_EVENTS: ReadonlySet<TaskEventType> = new Set([
  "cancel.requested",
  "task.adopted",
  "task.resumed",
  "run.requeued",
  "run.completed",
  "run.failed",
  "run.cancelled",
]);
/** How much of an error a list shows. Results are read one by one. */
const LIST_CHARS = 1000;
const PARENT_DELETED = "the parent session was deleted";

export class Engine {
  readonly #context: EngineContext;
  readonly #waiter: Waiter;
  readonly #driver: Driver;
  readonly #outbox: Outbox;
  readonly #launcher: Launcher;
  readonly #canceller: Canceller;
  readonly #recovery: Recovery;
  readonly #member: Member;
  readonly #claimer: Claimer;
  /** Passes on what it hears of the feed. */
  #toClaimer: (entries: readonly FeedEntry[]) => void = () => {};
  readonly #endListeners = new Set<(task: Task) => void>();
  #stopEvents: (() => void) | null = null;
  #isStopped = false;
  #usedAt: number;

  constructor(context: EngineContext) {
    const onEnded = (task: Task) => this.#told(task);
    this.#context = context;
    this.#usedAt = context.monotonic();
    this.#waiter = new Waiter(context, context.supervisor.changes);
    this.#driver = new Driver(context, onEnded);
    this.#outbox = new Outbox(context, () => context.supervisor.recoverLater());
    this.#recovery = new Recovery(context, this.#driver, onEnded);
    this.#launcher = new Launcher(context, this.#driver, this.#recovery);
    this.#canceller = new Canceller(context, this.#driver, this.#waiter, this.#recovery);
    this.#claimer = folderClaimer(context, this, (listener) => {
      this.#toClaimer = listener;
      return () => {
        this.#toClaimer = () => {};
      };
    });
    this.#member = {
      instance: context.instance,
      drives: (task) => this.#driver.drives(task),
      heed: (entry) => this.#heed(entry),
      tell: (parentSessionId) => this.#outbox.kick(parentSessionId),
      verify: () => this.#driver.verify(),
      settleDoubts: () => this.#recovery.settleDoubts(),
      recoverTasks: (tasks) => this.#recovery.recoverTasks(tasks),
      recoverLaunch: (launch) => this.#recovery.recoverLaunch(launch),
    };
  }

  /** Registers the instance and starts to listen. */
  async start(): Promise<void> {
    const { host, supervisor } = this.#context;
    await supervisor.add(this.#member);
    this.#stopEvents = host.onEvent((event) => this.#hear(event));
    this.#claimer.start();
  }

  /** Recovers what dead processes left. Called once after the start, when the host can be asked. */
  recover(): Promise<boolean> {
    return this.#context.supervisor.recover();
  }

  /** Marks the live runs of this instance as interrupted, before its process ends. */
  async interrupt(): Promise<void> {
    const isStopped = this.#claimer.stop();
    await this.#driver.interrupt(INTERRUPTED);
    await isStopped;
  }

  /** Stops everything. If there are live tasks, another instance recovers them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopEvents?.();
    const isStopped = this.#claimer.stop();
    this.#driver.stop();
    this.#outbox.stop();
    await isStopped;
    await this.#context.supervisor.remove(this.#member);
  }

  /** Called for each task of this instance whose run ended, or that needs its parent's attention. */
  onEnded(listener: (task: Task) => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  get instance(): Instance {
    return this.#context.instance;
  }

  /** How many runs it drives now. */
  get liveRuns(): number {
    return this.#driver.size;
  }

  /** When it was last used, or a run of it ended, by the clock for durations: now, while a launch is under way. */
  get usedAt(): number {
    return this.#driver.isAwaited ? this.#context.monotonic() : this.#usedAt;
  }

  /** The agent for launches that name none. */
  get defaultAgent(): string {
    return this.#context.host.defaultAgent;
  }

  agents(): Promise<AgentInfo[]> {
    this.#use();
    return this.#context.host.agents();
  }

  /** Checks a launch without creating anything. */
  checkLaunch(caller: Caller, request: LaunchRequest): Promise<AgentInfo> {
    this.#use();
    return this.#launcher.check(caller, request);
  }

  /** 0 for a session that is not a task, 1 for a task, and so on. */
  depthOf(sessionId: string): Promise<number> {
    return this.#launcher.depthOf(sessionId);
  }

  /**
   * Asked before each request to a model, by a host that can wait with it. Resolves when the budgets of the session's
   * task allow it; rejects if they never will: then the task is being stopped.
   */
  async mayRequest(sessionId: string): Promise<void> {
    const problem = await this.#driver.mayRequest(sessionId);
    if (problem !== null) throw new AsyncAgentsError("over_budget", problem);
  }

  async launch(caller: Caller, request: LaunchRequest, agent: AgentInfo): Promise<Task> {
    this.#use();
    try {
      return await this.#launcher.launch(caller, request, agent);
    } catch (thrown) {
      // Notices of its batch may have waited for it.
      this.#outbox.kick(caller.sessionId);
      throw thrown;
    }
  }

  /** Begins a run that this process claimed from the queue. */
  launchClaimed(claimed: ClaimedRun, clone: TaskClone | null): Promise<Task> {
    this.#use();
    const launcher = this.#launcher;
    const parts = { context: this.#context, driver: this.#driver, recovery: this.#recovery };
    const depthOf = (sessionId: string) => launcher.depthOf(sessionId);
    return launchClaimed({ ...parts, depthOf, findAgent: (name) => launcher.agent(name) }, claimed, clone);
  }

  async resume(caller: Caller, taskId: string, prompt: string): Promise<Task> {
    return this.#launcher.resume(caller, await this.find(caller.sessionId, taskId), { prompt });
  }

  /** Sends a message into the run of one of the caller's tasks; waits a moment for its receipt. */
  async steer(caller: Caller, taskId: string, text: string, wait: WaitOptions): Promise<SteeringMessage> {
    const task = await this.find(caller.sessionId, taskId);
    const said = { text, by: caller.sessionId };
    const { id } = await acceptSteering(this.#context, task, said, { isOwner: false });
    return untilSettled(this.#context, id, wait);
  }

  /** The caller's tasks, without those it cleared, newest first. */
  list(callerSessionId: string, page: { limit: number; offset: number }): Promise<TaskPage> {
    return this.#context.store.tasks({
      parentSessionId: callerSessionId,
      cleared: false,
      textChars: LIST_CHARS,
      ...page,
    });
  }

  /** The task, after waiting for it if `wait` is given. If it has completed, its retrieval is recorded. */
  async output(callerSessionId: string, taskId: string, wait: WaitOptions | null) {
    const found = await this.find(callerSessionId, taskId);
    // Somebody may resume it before its end is read.
    const reached = (task: Task) => task.run.number > found.run.number || endsWait(task);
    const waited = wait ? await this.#waiter.until(found.id, reached, wait) : null;
    const task = waited?.task ?? found;
    if (task.status === "completed") {
      await this.#context.store.apply(task.id, { type: "result.retrieved", at: this.#context.now() });
    }
    return { task, waited: waited?.reason ?? null };
  }

  async cancel(callerSessionId: string, taskId: string): Promise<CancelResult> {
    return this.cancelTask(await this.find(callerSessionId, taskId), "cancelled by its parent");
  }

  /** Cancels any task, including one that another process drives. */
  async cancelTask(task: Task, reason: string): Promise<CancelResult> {
    assertCancellable(task);
    return this.#canceller.cancel(task, reason);
  }

  /** Resumes any task of this directory for a person. Its parent, if it has one, is notified as usual. */
  resumeTask(task: Task, request: ResumeRequest): Promise<Task> {
    this.#use();
    return this.#launcher.resume(PERSON, task, request);
  }

  /**
   * Answers the request that a task of this instance waits for; with an id, only that request. `who`: the name of the
   * caller's token. If somebody else was faster, the error says who.
   */
  async answerTask(task: Task, reply: Reply, requestId?: string, by: Answerer = "api", who?: string): Promise<void> {
    this.#use();
    const { host } = this.#context;
    const { answers } = this.#driver;
    if (!host.answer) throw new AsyncAgentsError("host_unsupported", `${host.kind} cannot be answered from here.`);
    const detail = isLive(task.status) && task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
    if (detail === null || (requestId ?? detail.requestId) !== detail.requestId) {
      throw overAlready(task, requestId, requestId === undefined ? null : answers.of(requestId));
    }
    if (detail.asks !== reply.kind) {
      const message = `Task ${task.id} asks for a ${detail.asks}, not for a ${reply.kind}: ${detail.text.slice(0, 200)}`;
      throw new AsyncAgentsError("invalid_input", message, { details: { asks: detail.asks } });
    }
    if (reply.kind === "question" && reply.answers !== null) assertEachAnswered(detail.text, reply.answers);
    const send = () => host.answer?.(task.sessionId, detail.requestId, reply) ?? Promise.resolve(false);
    const texts = keptTexts(detail.text, replyText(reply));
    const given = { reply: replyWord(reply), by, ...(who !== undefined && { who }), ...texts };
    if (await answers.give(detail.requestId, given, send)) return;
    throw overAlready(task, detail.requestId, answers.of(detail.requestId));
  }

  /**
   * Notifies a task's parent of everything that it has not been told, including dropped notices. `desk.ts` finds the
   * instance that handles the parent.
   */
  async tellAgain(task: Task): Promise<void> {
    this.#use();
    if ((await this.#context.store.reopenNotices(task.id)) === 0) {
      const message =
        task.parentSessionId === ""
          ? `Task ${task.id} was launched by a person: there is no session to tell.`
          : `The parent of task ${task.id} has been told everything. ${this.#context.settings.listTool} shows its state.`;
      throw new AsyncAgentsError("nothing_to_tell", message);
    }
    this.#outbox.hurry(task.parentSessionId);
  }

  messages(sessionId: string, page: { limit: number; before: string | null }): Promise<MessagePage> {
    this.#use();
    return this.#context.host.messages(sessionId, page);
  }

  /** Cancels the live tasks of one of the caller's batches, by its id or its name. */
  async cancelBatch(callerSessionId: string, batch: string): Promise<CancelResult[]> {
    for (const batchId of [batch, batchIdOf(batch, callerSessionId)]) {
      const own = await allTasks(this.#context.store, { parentSessionId: callerSessionId, batchId });
      if (own.length > 0) return this.#canceller.cancelAll(own, "cancelled with its batch");
    }
    throw new AsyncAgentsError(
      "task_not_found",
      `None of your tasks is in a batch "${batch.slice(0, 100)}". ${this.#context.settings.listTool} shows your batches.`,
    );
  }

  async cancelAll(callerSessionId: string): Promise<CancelResult[]> {
    const live = await allTasks(this.#context.store, {
      parentSessionId: callerSessionId,
      status: ["running", "resumed"],
    });
    return this.#canceller.cancelAll(live, "cancelled by its parent");
  }

  /** Cancels what runs and clears the caller's list. The history stays and can be resumed. */
  async clear(
    callerSessionId: string,
    reason = "cleared by its parent",
  ): Promise<{ cleared: number; cancelled: number }> {
    const tasks = await allTasks(this.#context.store, { parentSessionId: callerSessionId, cleared: false });
    const cancelled = await this.#canceller.cancelAll(tasks, reason);
    const at = this.#context.now();
    for (const { id, run } of tasks) {
      await this.#context.store.apply(id, { type: "task.cleared", at, run: run.number });
    }
    return { cleared: tasks.length, cancelled: cancelled.length };
  }

  /** Waits until the task has ended and its parent was notified. One that may never start is not waited for. */
  async untilTold(task: Task, signal: AbortSignal): Promise<Task> {
    const isDone = (each: Task) => !isLive(each.status) || each.phaseDetail?.kind === "blocked";
    const ended = await this.#waiter.until(task.id, isDone, { signal });
    await this.#outbox.untilQuiet(task.parentSessionId, signal);
    return ended.task ?? task;
  }

  /** A message that the outbox did not send arrived in a session of this instance: it handles that parent now. */
  async handles(
    message: Omit<Parent, "handler" | "host" | "machine" | "seenAt"> & { messageId: string },
  ): Promise<void> {
    const { store, instance, now } = this.#context;
    const { messageId, ...session } = message;
    if (this.#outbox.sent(messageId) || (await store.parent(session.sessionId)) === null) return;
    const { host, machine, id: handler } = instance;
    await store.putParent({ ...session, host, machine, handler, seenAt: now() });
    this.#outbox.hurry(session.sessionId);
  }

  /** The caller's own task by its id, or by a unique beginning of it. */
  async find(callerSessionId: string, id: string): Promise<Task> {
    const text = id.trim();
    if (text === "")
      throw new AsyncAgentsError(
        "invalid_input",
        `task_id is empty. ${this.#context.settings.listTool} shows the ids of your tasks.`,
      );
    const exact = await this.#context.store.task(text);
    if (exact?.parentSessionId === callerSessionId) return exact;
    if (exact) {
      throw new AsyncAgentsError(
        "not_allowed",
        `Task ${exact.id} belongs to another session. You can only touch tasks that you launched.`,
      );
    }
    const query = { parentSessionId: callerSessionId, idPrefix: text, limit: 2 };
    const { tasks } = await this.#context.store.tasks(query);
    if (tasks.length > 1) {
      throw new AsyncAgentsError(
        "task_ambiguous",
        `"${text.slice(0, 100)}" fits several of your tasks. Give the whole id.`,
      );
    }
    const [only] = tasks;
    if (only) return only;
    throw new AsyncAgentsError(
      "task_not_found",
      `You have no task "${text.slice(0, 100)}". ${this.#context.settings.listTool} shows the ids of your tasks.`,
    );
  }

  #use(): void {
    this.#usedAt = this.#context.monotonic();
  }

  /** What another process may have written that this engine has to act on. */
  #heed(entry: FeedEntry): void {
    const { taskId, event } = entry;
    this.#toClaimer([entry]);
    if (OTHERS_EVENTS.has(event.type)) void this.#verify(taskId);
    if (event.type === "budget.used_up") void this.#driver.readBudgets();
    if (event.type === "steer.accepted" || event.type === "steer.cancelled") void this.#driver.readSteering(taskId);
  }

  /** Until the store can be read: nobody writes it again. */
  async #verify(taskId: string): Promise<void> {
    const { log, after, settings } = this.#context;
    try {
      await this.#driver.verify(taskId);
    } catch (thrown) {
      log.error("what another process wrote could not be read; it is tried again", { error: messageOf(thrown) });
      after(settings.pollMs, () => void this.#verify(taskId), { background: true });
    }
  }

  #hear(event: HostEvent): void {
    this.#driver.take(event);
    this.#outbox.hear(event);
    if (event.type === "session.deleted") {
      void this.#parentDeleted(event.sessionId);
    } else if (event.type === "session.failed" && event.aborted && this.#context.settings.cancelOnAbort) {
      this.#try(this.cancelAll(event.sessionId), "the tasks of an aborted turn were not cancelled");
    }
  }

  /** Until it succeeds: nobody says it again, and what it had launched would go on. */
  async #parentDeleted(sessionId: string): Promise<void> {
    const { store, now, host, log, after, settings } = this.#context;
    if (this.#isStopped) return;
    try {
      const parent = await store.parent(sessionId);
      if (parent === null || (parent.host ?? host.kind) !== host.kind) return;
      await this.clear(sessionId, PARENT_DELETED);
      await store.dropNotices(sessionId, PARENT_DELETED, now());
    } catch (thrown) {
      log.error("a deleted parent was not seen to; it is tried again", { error: messageOf(thrown) });
      after(settings.pollMs, () => void this.#parentDeleted(sessionId), { background: true });
    }
  }

  #told(task: Task): void {
    this.#use();
    if (task.parentSessionId !== "") this.#outbox.kick(task.parentSessionId);
    for (const listener of this.#endListeners) listener(task);
  }

  #try(work: Promise<unknown>, message: string): void {
    work.catch((thrown: unknown) => this.#context.log.error(message, { error: messageOf(thrown) }));
  }
}
