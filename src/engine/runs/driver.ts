/**
 * Drives the live runs of this instance: hands prompts over when there is a place, follows host events, and ends each run
 * on evidence. A missed event is found by one poll for all runs, at most once in `pollMs`: their statuses, what they ask
 * for, what stalls or goes beyond its limits. Does not decide a status: it gathers evidence, the model judges, the store applies.
 * Invariant: it writes about a task only while the store says that this instance owns it.
 */
import type { HostEvent, HostStatus, OpenRequest } from "../../hosts/host.ts";
import type { ReplyWord } from "../../model/answer.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { CANCELLED, endOf, judge, type Verdict } from "../../model/evidence.ts";
import { breachOf, isStalled, type RunLimits } from "../../model/limits.ts";
import { addProgress, fullerProgress, type Progress } from "../../model/progress.ts";
import type { Phase, PhaseDetail, Task } from "../../model/task.ts";
import { isLive } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import { Answers } from "../answers.ts";
import type { EngineContext } from "../context.ts";
import { Handover, SESSION_DELETED } from "./handover.ts";
import { Leftovers } from "./leftovers.ts";
import { Lull } from "./lull.ts";
import { PollTimer } from "./poll-timer.ts";
import { Slots } from "./slots.ts";
import { RunTracker } from "./tracker.ts";

const SAVE_MS = 500;
const BEGIN_MS = 20_000;
/** So long may hosts take to stop when this process ends; they end with it in any case. */
const ABORT_MS = 3_000;

export class Driver {
  readonly #context: EngineContext;
  readonly #onEnded: (task: Task) => void;
  readonly #live = new Map<string, RunTracker>();
  /** Sessions that a task's session opened by itself, with the task's session. */
  readonly #descendants = new Map<string, string>();
  readonly #slots: Slots;
  readonly #leftovers: Leftovers;
  readonly #handover: Handover;
  /** Prompts wait here until the launches beside them have returned. */
  readonly lull: Lull;
  readonly answers: Answers;
  readonly #saving = new Map<RunTracker, ReturnType<typeof setTimeout>>();
  readonly #pollTimer: PollTimer;
  #stopped = false;

  constructor(context: EngineContext, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#onEnded = onEnded;
    this.#slots = context.slots ?? new Slots(null);
    this.lull = new Lull({ pauseMs: context.settings.launchPauseMs });
    this.#leftovers = new Leftovers(context, (sessionId) => this.#live.get(sessionId)?.stopping === null);
    this.#handover = new Handover(context, this.#leftovers);
    this.answers = new Answers(context.now);
    this.#pollTimer = new PollTimer(context, () => this.#poll());
  }

  /** Does what ends in beginning a run, unless too many wait for their turn already. */
  admit<T>(work: () => Promise<T>): Promise<T> {
    return this.#slots.admit(work);
  }

  /** Begins a run whose row is written; what goes wrong from here on ends the task with the truth. */
  begin(task: Task, limits: RunLimits = {}): void {
    if (this.#stopped) return;
    const tracker = this.#track(task);
    tracker.limits = limits;
    const begin = () => this.lull.after(() => void this.#start(tracker, task));
    // A task of a task does not wait for the place of the one that waits for it.
    const isNested = this.#live.has(this.#rootOf(task.parentSessionId));
    tracker.place = isNested ? this.#slots.occupy(begin) : this.#slots.take(begin);
    if (tracker.place.waits) this.#phase(tracker, "queued", null);
  }

  /** Takes over a run that is already at work in this host, unless somebody was faster. */
  async adopt(task: Task): Promise<void> {
    const { store, instance, now } = this.#context;
    const event = { type: "task.adopted", at: now(), owner: instance.id } as const;
    const adopted = await store.apply(task.id, event, { owner: task.owner });
    if (!adopted.changed || this.#stopped) return;
    const tracker = this.#track(adopted.task);
    tracker.place = this.#slots.occupy();
    tracker.counting = true;
    tracker.accept(true);
    if (adopted.task.phaseDetail?.kind === "waiting") tracker.ask(adopted.task.phaseDetail);
    if (adopted.task.cancelRequestedAt !== null) tracker.cancelReason = CANCELLED;
    if (tracker.phase === "queued" || tracker.phase === "starting") this.#phase(tracker, "working", null);
    this.#pollSoon();
  }

  drives(task: Task): boolean {
    return this.#live.get(task.sessionId)?.taskId === task.id;
  }

  /** Another process wrote about a task, or about all: what is not ours any more is let go, and stopped at our host. */
  async verify(taskId?: string): Promise<void> {
    const { store, instance } = this.#context;
    for (const tracker of [...this.#live.values()]) {
      if (taskId !== undefined && tracker.taskId !== taskId) continue;
      // Behind our own writes: what those ended is forgotten by then.
      const task = await tracker.inOrder(() => store.task(tracker.taskId));
      const isOurs = task && isLive(task.status) && task.owner === instance.id && task.run.number === tracker.run;
      if (!isOurs) this.#lose(tracker);
    }
  }

  /**
   * Stops the host's work, then ends the run. Rejects, with the task unchanged, when the host cannot stop it now: then each
   * poll tries again.
   */
  async cancel(task: Task, reason: string): Promise<void> {
    const tracker = this.#live.get(task.sessionId);
    if (!tracker) return;
    tracker.cancelReason ??= reason;
    await this.#stopRun(tracker, { outcome: "cancelled", reason });
  }

  async #stopRun(tracker: RunTracker, verdict: Verdict): Promise<void> {
    tracker.stopping = verdict;
    try {
      // What was never prompted is not at work.
      if (tracker.counting) await this.#context.host.abort(tracker.sessionId);
    } catch (thrown) {
      if (!isGone(thrown)) {
        if (tracker.stopping === verdict) tracker.stopping = null;
        this.#pollLater();
        throw thrown;
      }
    }
    await this.#end(tracker, verdict, tracker.progress());
  }

  /** How many runs it drives. */
  get size(): number {
    return this.#live.size;
  }

  /** Ends every run with that error, or as it was to end, then stops the host's work: for a process that is about to end. */
  async interrupt(error: string): Promise<void> {
    const { host } = this.#context;
    const verdictOn = ({ cancelReason: reason }: RunTracker): Verdict =>
      reason === null ? { outcome: "error", error } : { outcome: "cancelled", reason };
    const live = [...this.#live.values()];
    // All of them first: whose turn comes now, since another one has ended, must not begin any more.
    for (const tracker of live) tracker.stopping ??= verdictOn(tracker);
    const stopping = live.map(async (tracker) => {
      await this.#end(tracker, tracker.stopping ?? verdictOn(tracker), tracker.progress());
      await host.abort(tracker.sessionId).catch(this.#logFailure("an interrupted session was not stopped"));
    });
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, ABORT_MS);
    await Promise.race([Promise.all(stopping), late.promise]);
    clearTimeout(timer);
  }

  take(event: HostEvent): void {
    this.#handover.take(event);
    if (event.type === "host.ended") {
      for (const tracker of this.#live.values()) void this.#hostEnded(tracker, event.reason);
      return;
    }
    if (event.type === "session.opened") {
      const root = this.#rootOf(event.parentSessionId);
      if (this.#live.has(root) && !this.#live.has(event.sessionId)) this.#descendants.set(event.sessionId, root);
      return;
    }
    const tracker = this.#live.get(this.#rootOf(event.sessionId));
    if (!tracker) return;
    // Before its prompt is sent, what happens in the session is somebody else's.
    if (!tracker.counting && event.type !== "session.deleted") return;
    if (event.sessionId === tracker.sessionId) this.#takeOwn(tracker, event);
    else this.#takeDescendant(tracker, event);
  }

  stop(): void {
    this.#stopped = true;
    this.lull.stop();
    this.#leftovers.close();
    this.#handover.stop();
    this.#pollTimer.stop();
    for (const timer of this.#saving.values()) clearTimeout(timer);
    for (const tracker of this.#live.values()) tracker.place?.leave();
    this.#saving.clear();
    this.#live.clear();
  }

  #rootOf(sessionId: string): string {
    return this.#descendants.get(sessionId) ?? sessionId;
  }

  #track(task: Task): RunTracker {
    const tracker = new RunTracker(task, this.#context);
    this.#live.get(task.sessionId)?.place?.leave();
    this.#live.set(task.sessionId, tracker);
    // A task of a task: what happens there is its own, and not its parent's.
    this.#descendants.delete(task.sessionId);
    return tracker;
  }

  async #start(tracker: RunTracker, task: Task): Promise<void> {
    const { host, settings } = this.#context;
    const isOff = () => tracker.stopping !== null || tracker.isOver || this.#stopped;
    if (isOff()) return;
    if (tracker.phase === "queued") this.#phase(tracker, "starting", null);
    try {
      if (task.isForked && task.run.number === 0) await host.condense?.(task.sessionId, settings.fork);
    } catch (thrown) {
      return this.#end(tracker, { outcome: "error", error: messageOf(thrown) }, null);
    }
    if (isOff()) return;
    tracker.counting = true;
    const { messageId, prompt: text } = task.run;
    const { cost: maxCost } = { ...settings.limits, ...tracker.limits };
    const input = { messageId, text, agent: task.agent, model: task.model, maxCost };
    const error = await this.#handover.send(tracker, input);
    if (this.#stopped) return;
    if (error !== null) return this.#end(tracker, tracker.stopping ?? { outcome: "error", error }, null);
    this.#context.reach("prompt-sent");
    tracker.accept();
    if (tracker.stopping !== null || tracker.isOver) this.#leftovers.stop(task.sessionId);
    // A request or a retry may have come while the prompt was on its way: it still holds.
    else if (tracker.phase === "starting") this.#phase(tracker, "working", null);
    if (tracker.idleEarly) void this.#settle(tracker, false);
    this.#pollLater();
  }

  #takeOwn(tracker: RunTracker, event: HostEvent): void {
    switch (event.type) {
      case "session.idle":
        tracker.heardIdle = true;
        void this.#settle(tracker, false);
        return;
      case "session.failed":
        tracker.announced = event.error;
        void this.#settle(tracker, false);
        return;
      case "session.deleted":
        // A host may go on working in a session that is gone, so it is stopped all the same.
        void this.#context.host.abort(tracker.sessionId).catch(this.#logFailure("a deleted session was not stopped"));
        void this.#end(tracker, { outcome: "cancelled", reason: SESSION_DELETED }, tracker.progress());
        return;
      case "session.working":
        // An idle from before was another run's.
        tracker.heardIdle = false;
        if (tracker.phase === "retrying") this.#goOn(tracker);
        return;
      default:
        this.#takeDescendant(tracker, event);
    }
  }

  /** What counts for the task wherever in its tree of sessions it happens. */
  #takeDescendant(tracker: RunTracker, event: HostEvent): void {
    if (event.type === "session.retrying") {
      this.#phase(tracker, "retrying", { kind: "retrying", reason: event.reason, count: event.count });
    } else if (event.type === "session.asked") {
      this.#ask(tracker, event);
    } else if (event.type === "session.answered") {
      this.#answered(tracker, [event.requestId], event.reply);
    } else if (tracker.count(event)) {
      if (tracker.phase === "retrying" || tracker.phase === "stalled") this.#goOn(tracker);
      this.#saveLater(tracker);
    }
  }

  #ask(tracker: RunTracker, { requestId, asks, text }: Pick<OpenRequest, "requestId" | "asks" | "text">): void {
    const detail = { kind: "waiting", requestId, asks, text } as const;
    tracker.ask(detail);
    this.#phase(tracker, "waiting", detail);
  }

  /** What is open and unknown is asked now; what was known before the list was read, and is not in it, was answered. */
  #reconcile(open: readonly OpenRequest[], known: readonly [RunTracker, string[]][]): void {
    for (const request of open) {
      const root = [request.sessionId, ...request.above].find((id) => this.#live.has(id));
      const tracker = root === undefined ? undefined : this.#live.get(root);
      if (!tracker?.counting || tracker.knows(request.requestId)) continue;
      if (request.sessionId !== tracker.sessionId) this.#descendants.set(request.sessionId, tracker.sessionId);
      this.#ask(tracker, request);
    }
    const ids = new Set(open.map(({ requestId }) => requestId));
    for (const [tracker, before] of known) {
      const closed = before.filter((id) => !ids.has(id));
      this.#answered(tracker, closed);
    }
  }

  #answered(tracker: RunTracker, requestIds: readonly string[], reply?: ReplyWord): void {
    for (const id of requestIds) tracker.answer(id);
    if (requestIds.length > 0) this.#goOn(tracker, this.answers.heard(requestIds, reply));
  }

  /** It works again, unless somebody is still asked. */
  #goOn(tracker: RunTracker, answered: PhaseDetail | null = null): void {
    const { asked } = tracker;
    this.#phase(tracker, asked === null ? "working" : "waiting", asked ?? answered);
  }

  #phase(tracker: RunTracker, phase: Phase, detail: PhaseDetail | null): void {
    tracker.phase = phase;
    if (phase === "working") tracker.stir();
    this.#apply(tracker, { type: "run.phased", at: this.#context.now(), run: tracker.run, phase, detail })
      .then((applied) => {
        if (applied.changed && applied.notice) this.#onEnded(applied.task);
      })
      .catch(this.#logFailure("a phase could not be written"));
  }

  async #apply(tracker: RunTracker, event: TaskEvent): Promise<Transition> {
    const { store, instance } = this.#context;
    const applied = await tracker.inOrder(() => store.apply(tracker.taskId, event, { owner: instance.id }));
    if (!applied.changed && applied.reason !== "no_change") this.#lose(tracker);
    return applied;
  }

  /** Another process took the run, or ended it, since it held this one for dead: what is at work here must end. */
  #lose(tracker: RunTracker): void {
    if (this.#live.get(tracker.sessionId) !== tracker) return;
    const { log } = this.#context;
    log.error("a run is not this instance's any more; it is stopped here", { task: tracker.taskId });
    this.#forget(tracker);
    if (tracker.counting) this.#leftovers.stop(tracker.sessionId);
  }

  #saveLater(tracker: RunTracker): void {
    if (this.#saving.has(tracker)) return;
    const save = () => {
      this.#saving.delete(tracker);
      if (this.#live.get(tracker.sessionId) !== tracker) return;
      const progress = tracker.progress();
      const event = { type: "run.progressed", at: this.#context.now(), run: tracker.run, progress } as const;
      this.#apply(tracker, event).catch(this.#logFailure("progress could not be written"));
    };
    this.#saving.set(tracker, setTimeout(save, SAVE_MS));
  }

  /**
   * Ends the run if its messages show that it ended. An idle without an answer or an error may be an earlier run's:
   * then the status call decides, and `certain` says that it did.
   */
  async #settle(tracker: RunTracker, certain: boolean): Promise<void> {
    if (tracker.acceptedAt === null && !certain) {
      tracker.idleEarly = true;
      return;
    }
    try {
      const evidence = await this.#context.host.inspect(tracker.sessionId, tracker.messageId);
      if (!certain && !evidence.answer && !evidence.error) return this.#pollSoon();
      if (!evidence.begun && tracker.announced === null && this.#isFresh(tracker)) return this.#pollLater();
      const isOpen = !evidence.answer && !evidence.error && tracker.announced === null && tracker.stopping === null;
      if (isOpen && !tracker.heardIdle && !tracker.foundIdle) {
        // The status was read before the messages: a turn that began in between is at work. The next poll knows.
        tracker.foundIdle = true;
        return this.#pollLater();
      }
      const verdict = tracker.stopping ?? judge(evidence, tracker.announced);
      const shown = addProgress(tracker.before, evidence.progress);
      await this.#end(tracker, verdict, fullerProgress(tracker.progress(), shown));
    } catch (thrown) {
      if (isGone(thrown)) return this.#end(tracker, { outcome: "error", error: SESSION_DELETED }, null);
      this.#logFailure("a run could not be inspected; the next poll tries again")(thrown);
      this.#pollLater();
    }
  }

  /** The host's program died. What the run had finished counts; a prompt that is on its way fails by itself. */
  async #hostEnded(tracker: RunTracker, reason: string): Promise<void> {
    tracker.announced = reason;
    if (tracker.acceptedAt === null) return this.#handover.hurry(tracker);
    try {
      const evidence = await this.#context.host.inspect(tracker.sessionId, tracker.messageId);
      const shown = addProgress(tracker.before, evidence.progress);
      await this.#end(tracker, judge(evidence, reason), fullerProgress(tracker.progress(), shown));
    } catch {
      await this.#end(tracker, { outcome: "error", error: reason }, tracker.progress());
    }
  }

  /** A host may take a prompt some time before it begins to work on it, and be idle in between. */
  #isFresh(tracker: RunTracker): boolean {
    return tracker.acceptedAt !== null && this.#context.monotonic() - tracker.acceptedAt < BEGIN_MS;
  }

  async #end(tracker: RunTracker, verdict: Verdict, progress: Progress | null): Promise<void> {
    const { now, monotonic } = this.#context;
    const event = endOf(verdict, { at: now(), run: tracker.run, progress });
    try {
      const applied = await this.#apply(tracker, event);
      this.#forget(tracker);
      if (applied.changed) {
        this.#context.reach("outbox-written");
        this.#onEnded(applied.task);
      }
    } catch (thrown) {
      this.#logFailure("the end of a run could not be written; the next poll tries again")(thrown);
      tracker.acceptedAt ??= monotonic();
      this.#pollLater();
    }
  }

  #forget(tracker: RunTracker): void {
    tracker.isOver = true;
    if (this.#live.get(tracker.sessionId) === tracker) this.#live.delete(tracker.sessionId);
    tracker.place?.leave();
    for (const [child, root] of this.#descendants) if (root === tracker.sessionId) this.#descendants.delete(child);
    const timer = this.#saving.get(tracker);
    if (timer) clearTimeout(timer);
    this.#saving.delete(tracker);
  }

  #pollLater(): void {
    if (this.#live.size > 0) this.#pollTimer.later();
  }

  #pollSoon(): void {
    if (this.#live.size > 0) this.#pollTimer.soon();
  }

  async #poll(): Promise<void> {
    const asked = this.#context.monotonic();
    const known = [...this.#live.values()].map((run): [RunTracker, string[]] => [run, run.requestIds]);
    try {
      const open = await this.#context.host.requests?.();
      if (open) this.#reconcile(open, known);
    } catch (thrown) {
      this.#logFailure("what is asked could not be read; it is tried again")(thrown);
    }
    try {
      const statuses = await this.#context.host.statuses();
      const due = [...this.#live.values()].filter((run) => run.acceptedAt !== null && run.acceptedAt < asked);
      await Promise.all(due.map((tracker) => this.#takeStatus(tracker, statuses.get(tracker.sessionId))));
    } catch (thrown) {
      this.#logFailure("the status call failed; it is tried again")(thrown);
    }
    this.#watch();
    this.#pollLater();
  }

  async #takeStatus(tracker: RunTracker, status: HostStatus | undefined): Promise<void> {
    if (!status) return this.#settle(tracker, true);
    tracker.foundIdle = false;
    if (status.state === "retrying") {
      this.#phase(tracker, "retrying", { kind: "retrying", reason: status.reason, count: status.count });
    } else if (tracker.phase === "retrying") this.#goOn(tracker);
  }

  /**
   * Stops what somebody wants cancelled; says so when nothing is seen of a run, and stops one that goes beyond its limits, but
   * never one that waits for a person.
   */
  #watch(): void {
    const { limits } = this.#context.settings;
    // Who waits for a task of its own shows nothing, and all is well.
    const parents = new Set([...this.#live.values()].map((tracker) => this.#rootOf(tracker.parentSessionId)));
    for (const tracker of this.#live.values()) {
      if (tracker.cancelReason !== null && tracker.stopping === null) {
        this.#stopRun(tracker, { outcome: "cancelled", reason: tracker.cancelReason }).catch(
          this.#logFailure("a run could not be cancelled; the next poll tries again"),
        );
        continue;
      }
      const standing = tracker.standing();
      if (standing === null || tracker.stopping !== null || tracker.asked !== null) continue;
      const breach = breachOf(standing, { ...limits, ...tracker.limits });
      if (breach !== null) {
        this.#stopRun(tracker, { outcome: "error", error: breach }).catch(
          this.#logFailure("a run beyond its limits could not be stopped; the next poll tries again"),
        );
      } else if (tracker.phase === "working" && isStalled(standing, limits) && !parents.has(tracker.sessionId)) {
        this.#phase(tracker, "stalled", null);
      }
    }
  }

  #logFailure(message: string): (thrown: unknown) => void {
    return (thrown) => this.#context.log.error(message, { error: messageOf(thrown) });
  }
}

function isGone(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
}
