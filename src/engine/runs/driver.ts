/**
 * Drives the live runs of this instance: gives each its turn, routes host events and commands to it, and polls for all
 * of them at once, at most once in `pollMs`, since events may get lost. Decides nothing about a run: `step` in
 * src/model/live-run does. Invariant: it writes about a task only while the store says that this instance owns it.
 */
import {
  type HostEvent,
  type HostStatus,
  type OpenRequest,
  type Reply,
  replyText,
  replyWord,
} from "../../hosts/host.ts";
import { keptTexts, type ReplyWord } from "../../model/answer.ts";
import { costOf, priceOf } from "../../model/budgets/prices.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { RunLimits } from "../../model/limits.ts";
import { adopt } from "../../model/live-run/handover.ts";
import type { RunInput } from "../../model/live-run/inputs.ts";
import { isPrompted, isWanted, type LiveRun, launchedRun } from "../../model/live-run/live-run.ts";
import { adoptPaused } from "../../model/live-run/pausing.ts";
import { phaseBegan, takenOver, type WorkSpan } from "../../model/live-run/work-spans.ts";
import { tokenSum } from "../../model/progress.ts";
import { questionsIn } from "../../model/questions.ts";
import { type Ruling, rulingOn } from "../../model/request-policy.ts";
import type { Task } from "../../model/task.ts";
import { settlesWithin } from "../../process/deadline.ts";
import { KeyedQueue } from "../../process/keyed-queue.ts";
import { LimitedQueue } from "../../process/limited-queue.ts";
import { Answers } from "../answers.ts";
import type { EngineContext } from "../context.ts";
import { DrivenRun, momentOf, type RuleEffect, type RunSurroundings } from "./driven-run.ts";
import { Leftovers } from "./leftovers.ts";
import { Lull } from "./lull.ts";
import { PollTimer } from "./poll-timer.ts";
import { Slots } from "./slots.ts";

/** How long hosts may take to stop when this process ends; they end with it in any case. */
const ABORT_MS = 3_000;
/** How long a run that is interrupted is given to show that it has ended. */
export const LOOK_MS = 1_000;
/** How many runs are checked at a time. */
const LOOKS_AT_ONCE = 8;

/** An event of one session that may concern its run. */
type SessionEvent = Exclude<HostEvent, { type: "host.ended" | "session.opened" | "message.added" | "message.taken" }>;

export class Driver {
  readonly #context: EngineContext;
  readonly #runs = new Map<string, DrivenRun>();
  /** Sessions that a task's session opened by itself, with the task's session. */
  readonly #descendants = new Map<string, string>();
  readonly #slots: Slots;
  readonly #leftovers: Leftovers;
  readonly #surroundings: RunSurroundings;
  /** Prompts wait here until the launches beside them have returned. */
  readonly lull: Lull;
  /**
   * By task: the writes that give a run to this instance, until the run is driven or given up. One may be stored while
   * its answer is on the way: then the run is neither driven yet nor an orphan.
   */
  readonly #beginnings = new KeyedQueue();
  readonly answers: Answers;
  readonly #pollTimer: PollTimer;
  /** What a poll reads of the host, until it is done. */
  #reading: Promise<void> | null = null;
  /** How many launches and resumes are under way. */
  #coming = 0;
  #stopped = false;

  constructor(context: EngineContext, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#slots = context.slots ?? new Slots(null);
    this.lull = new Lull({ clock: context, pauseMs: context.settings.launchPauseMs });
    this.#leftovers = new Leftovers(context, (sessionId) => {
      const run = this.#runs.get(sessionId);
      return run !== undefined && run.live.stage.name !== "unstarted" && isWanted(run.live);
    });
    this.#surroundings = {
      leftovers: this.#leftovers,
      announce: onEnded,
      rule: (run, effect) => this.#rule(run, effect),
      poll: (soon) => this.#schedulePoll(soon),
      takeTurn: (run) => this.#takeTurn(run),
      release: (run) => this.#release(run),
      readBudgets: () => this.readBudgets(),
    };
    this.answers = new Answers(context.now);
    this.#pollTimer = new PollTimer(context, () => this.#poll());
  }

  /** Does work that ends in beginning a run, unless too many runs wait for their turn already. */
  admit<T>(work: () => Promise<T>): Promise<T> {
    this.#coming++;
    const { keepFolder = (begin) => begin() } = this.#context;
    const wasStopped = this.#stopped;
    const admitted = keepFolder(() => {
      // It waited for a removal that came to nothing, but for which this was closed.
      if (this.#stopped && !wasStopped) throw hostClosed();
      return this.#slots.admit(work);
    });
    return admitted.finally(() => this.#coming--);
  }

  /** How many tasks may wait; null for any number. */
  get mostWaiting(): number | null {
    return this.#slots.maxLine;
  }

  /** Whether runs are on their way to it. */
  get isAwaited(): boolean {
    return this.#coming > 0;
  }

  /** Begins a run whose row is written; what goes wrong from here on ends the task and says why. */
  begin(task: Task, limits: RunLimits = {}): void {
    if (this.#stopped) return;
    const run = this.#add(task, launchedRun(task, { ...this.#context.settings.limits, ...limits }));
    this.#takeTurn(run);
    if (run.place?.waits) run.tell({ type: "turn.delayed" });
    // It may have been spoken to while it waited for a runner.
    if (task.id !== task.sessionId) void this.readSteering(task.id);
  }

  #takeTurn(run: DrivenRun): void {
    const { task } = run;
    const begin = () => {
      const come = () => {
        if (!this.#stopped) run.tell({ type: "turn.came" });
      };
      // Slots that are given back when this driver stops are not for its own runs.
      if (!this.#stopped) this.lull.after(() => this.#leftovers.afterStop(task.sessionId, come));
    };
    // A task of a task does not wait for the slot of the one that waits for it.
    const isNested = this.#runs.has(this.rootOf(task.parentSessionId));
    run.place?.leave();
    run.place = isNested ? this.#slots.occupy(begin) : this.#slots.take(begin);
  }

  /** Does work that writes the beginning of a run of that task, and begins it. */
  beginning<T>(taskId: string, work: () => Promise<T>): Promise<T> {
    return this.#beginnings.run(taskId, work);
  }

  /** Resolves when no run of that task is about to begin here. */
  settled(taskId: string): Promise<void> {
    return this.#beginnings.run(taskId, async () => {});
  }

  /** Takes over a run that is at work in this host, or paused, unless another process was faster. */
  adopt(task: Task, how: "working" | "paused"): Promise<void> {
    return this.beginning(task.id, () => this.#adopt(task, how));
  }

  async #adopt(task: Task, how: "working" | "paused"): Promise<void> {
    const { store, instance, now, settings } = this.#context;
    const event = { type: "task.adopted", at: now(), owner: instance.id } as const;
    const { owner, fence } = task;
    const spans = await this.#storedSpans(task);
    const adopted = await store.apply(task.id, event, { owner, fence, by: instance.id });
    if (!adopted.changed || this.#stopped) return;
    const take = how === "paused" ? adoptPaused : adopt;
    const at = momentOf(this.#context);
    const begun = take(adopted.task, settings.limits, at);
    const live = { ...begun.run, spans: phaseBegan(takenOver(spans, at.wall), begun.run.phase, at.wall) };
    const run = this.#add(adopted.task, live);
    if (how === "working") run.place = this.#slots.occupy();
    void run.perform({ run: live, effects: begun.effects });
    void this.readSteering(task.id);
  }

  /** What the process before stored; without it, the run goes on all the same. */
  async #storedSpans({ id, run }: Task): Promise<WorkSpan[]> {
    try {
      const [stored] = await this.#context.store.spans({ taskId: id, run: run.number });
      return stored?.spans ?? [];
    } catch (thrown) {
      this.#logFailure("what a run spent its time on could not be read; its timeline begins anew", thrown);
      return [];
    }
  }

  /** Somebody said something to a task's run, or took it back: reads it until the store can be read. */
  async readSteering(taskId: string): Promise<void> {
    const { log, after, settings } = this.#context;
    await this.settled(taskId);
    const run = [...this.#runs.values()].find(({ task }) => task.id === taskId);
    try {
      await run?.readSteering();
    } catch (thrown) {
      log.error("a message into a run could not be read; it is tried again", { error: messageOf(thrown) });
      after(settings.pollMs, () => void this.readSteering(taskId), { background: true });
    }
  }

  /** Reads the budgets of all runs, and stops those that they leave nothing. Never rejects: each poll does it again. */
  async readBudgets(): Promise<void> {
    const runs = [...this.#runs.values()];
    try {
      const chains = await this.#context.store.budgets.chains(runs.map(({ task }) => task.id));
      for (const run of runs) run.heedBudgets(chains.get(run.task.id) ?? []);
    } catch (thrown) {
      this.#logFailure("budgets could not be read; the next poll tries again", thrown);
    }
  }

  /** Whether a session may begin its next request to a model; why not, if it never may. */
  async mayRequest(sessionId: string): Promise<string | null> {
    return (await this.#runs.get(this.rootOf(sessionId))?.mayRequest()) ?? null;
  }

  drives(task: Task): boolean {
    return this.#runs.get(task.sessionId)?.task.id === task.id;
  }

  /**
   * Another process wrote about a task, or about all: lets go of what is not ours any more, and cancels what is to be
   * cancelled. Rejects when the store cannot be read. Several at once: no heartbeat is sent until all are checked.
   */
  async verify(taskId?: string): Promise<void> {
    if (taskId !== undefined) await this.settled(taskId);
    const runs = [...this.#runs.values()].filter(({ task }) => taskId === undefined || task.id === taskId);
    const looks = new LimitedQueue(LOOKS_AT_ONCE);
    await Promise.all(runs.map((run) => looks.run(() => run.verify())));
  }

  /**
   * Stops the host's work, then ends the run. Rejects, with the task unchanged, when the host cannot stop it now; then
   * each poll tries again.
   */
  async cancel(task: Task, reason: string): Promise<void> {
    const run = this.#runs.get(task.sessionId);
    // The run that was meant has ended meanwhile.
    if (run?.task.run.number !== task.run.number) return;
    await run.feed({ type: "cancel", reason });
    // Its end may have been on its way already.
    await run.written();
  }

  /** How many runs it drives. */
  get size(): number {
    return this.#runs.size;
  }

  /**
   * Ends every run with that error, or as it was about to end or has ended unseen, then stops the host's work: for a
   * process that ends.
   */
  async interrupt(error: string): Promise<void> {
    const { host, log } = this.#context;
    const stopping = [...this.#runs.values()].map(async (run) => {
      await settlesWithin(run.look(), { timeout: LOOK_MS, clock: this.#context });
      await run.feed({ type: "interrupt", error });
      await run.written();
      await host.abort(run.sessionId).catch((thrown: unknown) => {
        log.error("an interrupted session was not stopped", { error: messageOf(thrown) });
      });
    });
    await settlesWithin(Promise.all(stopping), { timeout: ABORT_MS, clock: this.#context });
  }

  take(event: HostEvent): void {
    switch (event.type) {
      case "host.ended":
        for (const run of this.#runs.values()) run.tell({ type: "host.ended", reason: event.reason });
        return;
      case "session.opened": {
        const root = this.rootOf(event.parentSessionId);
        if (this.#runs.has(root) && !this.#runs.has(event.sessionId)) this.#descendants.set(event.sessionId, root);
        return;
      }
      case "message.added":
      case "message.taken": {
        if (event.type === "message.added") this.#leftovers.added(event);
        else this.#leftovers.taken(event);
        const run = this.#runs.get(event.sessionId);
        if (run?.task.run.messageId === event.messageId) run.tell({ type: "prompt.seen" });
        else if (event.type === "message.taken") run?.tell({ type: "other.taken" });
        return;
      }
    }
    const run = this.#runs.get(this.rootOf(event.sessionId));
    const input = run && this.#inputOf(run, event);
    if (input) run.tell(input);
  }

  stop(): void {
    this.#stopped = true;
    this.lull.stop();
    this.#leftovers.close();
    this.#pollTimer.stop();
    for (const run of this.#runs.values()) run.stop();
    this.#runs.clear();
  }

  /** The session of the task that a session works for: a session that a task's agent opened by itself has none. */
  rootOf(sessionId: string): string {
    return this.#descendants.get(sessionId) ?? sessionId;
  }

  #add(task: Task, live: LiveRun): DrivenRun {
    const run = new DrivenRun(this.#context, this.#surroundings, task, live);
    const before = this.#runs.get(task.sessionId);
    // Another process took this one for dead and ended that run: the new one begins after an attempt to stop its agent.
    if (before?.live.ending === null) before.tell({ type: "lose" });
    before?.place?.leave();
    this.#runs.set(task.sessionId, run);
    // A task of a task: what happens there belongs to it, and not to its parent.
    this.#descendants.delete(task.sessionId);
    return run;
  }

  #release(run: DrivenRun): void {
    // The session may have a new run already.
    if (this.#runs.get(run.sessionId) !== run) return;
    this.#runs.delete(run.sessionId);
    for (const [child, root] of this.#descendants) if (root === run.sessionId) this.#descendants.delete(child);
  }

  /** What an event means for the run; null where it counts only in a session below, or for an earlier run. */
  #inputOf(run: DrivenRun, event: SessionEvent): RunInput | null {
    switch (event.type) {
      case "session.idle":
      case "session.working":
      case "session.failed":
      case "session.deleted":
        return event.sessionId === run.sessionId ? event : null;
      case "session.answered":
        return this.#answered(run, [event.requestId], event.reply);
      case "session.asked":
        return { ...event, ruling: this.#rulingOn(run, event) };
      case "usage.counted":
        return run.isBefore(event) ? null : this.#priced(run, event);
      case "session.retrying":
      case "tool.called":
      case "tool.ended":
      case "cost.reported":
      case "text.written":
        return event;
    }
  }

  /** With a cost from the prices, where the host gives none. */
  #priced({ task, live }: DrivenRun, { model, ...event }: Extract<HostEvent, { type: "usage.counted" }>): RunInput {
    if (event.cost > 0 || tokenSum(event.tokens) === 0) return event;
    const price = priceOf(model ?? task.model ?? "", this.#context.settings.prices);
    if (price !== null) return { ...event, cost: costOf(event.tokens, price) };
    return live.budgeting === null ? event : { ...event, isUnpriced: true };
  }

  #answered(run: DrivenRun, requestIds: readonly string[], reply?: ReplyWord): RunInput | null {
    if (!isPrompted(run.live) || requestIds.length === 0) return null;
    return { type: "session.answered", requestIds, answer: this.answers.heard(requestIds, reply) };
  }

  #rulingOn({ task: { agent } }: DrivenRun, { asks, tool }: Pick<OpenRequest, "asks" | "tool">): Ruling | null {
    return rulingOn(this.#context.settings.rules, { agent, asks, tool });
  }

  /** Through the same line as the answers of people: whoever is second learns of the first. */
  async #rule({ task }: DrivenRun, { request, decision, reason }: RuleEffect): Promise<boolean> {
    const { host } = this.#context;
    const { requestId, asks, text } = request;
    const verdict =
      decision === "allow"
        ? ({ decision: "once", message: null } as const)
        : ({ decision: "reject", message: reason } as const);
    const reply: Reply =
      asks === "question"
        ? { kind: "question", answers: questionsIn(text).map(() => reason) }
        : { kind: "permission", ...verdict };
    const send = () => host.answer?.(task.sessionId, requestId, reply) ?? Promise.resolve(false);
    return this.answers.give(
      requestId,
      { reply: replyWord(reply), by: "policy", ...keptTexts(text, replyText(reply)) },
      send,
    );
  }

  #schedulePoll(soon: boolean): void {
    if (this.#runs.size === 0) return;
    if (soon) this.#pollTimer.soon();
    else this.#pollTimer.later();
  }

  async #poll(): Promise<void> {
    this.#reading ??= this.#readHost().finally(() => {
      this.#reading = null;
    });
    // A host that does not answer holds up neither what is to be tried again nor the limits.
    await settlesWithin(this.#reading, { timeout: this.#context.settings.pollMs, clock: this.#context });
    await this.readBudgets();
    // A run that waits for a task of its own, or for its budgets, shows no work, and is fine.
    const parents = new Set([...this.#runs.values()].map(({ task }) => this.rootOf(task.parentSessionId)));
    for (const run of this.#runs.values()) {
      run.tell({ type: "poll.done", isWaiting: parents.has(run.sessionId) || run.isHeldUp });
    }
    this.#schedulePoll(false);
  }

  /** Open requests and statuses: events may have been lost. Never rejects. */
  async #readHost(): Promise<void> {
    const { host, monotonic } = this.#context;
    const askedAt = monotonic();
    const known = [...this.#runs.values()].map((run): [DrivenRun, string[]] => [run, [...run.live.requests.keys()]]);
    try {
      const open = await host.requests?.();
      if (open) this.#reconcile(open, known);
    } catch (thrown) {
      this.#logFailure("open requests could not be read; the next poll tries again", thrown);
    }
    try {
      const statuses = await host.statuses();
      const below = this.#retryingBelow(statuses);
      const read = (run: DrivenRun) => {
        const own = statuses.get(run.sessionId) ?? null;
        const status = own?.state === "busy" ? (below.get(run.sessionId) ?? own) : own;
        return run.feed({ type: "status.read", status, askedAt });
      };
      await Promise.all([...this.#runs.values()].map(read));
    } catch (thrown) {
      this.#logFailure("the status call failed; the next poll tries again", thrown);
    }
  }

  /** A session that waits for one below it is busy; that one's retry is what its run waits for. */
  #retryingBelow(statuses: ReadonlyMap<string, HostStatus>): Map<string, HostStatus> {
    const found = new Map<string, HostStatus>();
    for (const [child, root] of this.#descendants) {
      const status = statuses.get(child);
      if (status?.state === "retrying") found.set(root, status);
    }
    return found;
  }

  /** Asks what is open and unknown; what was known before the list was read, and is not in it, was answered. */
  #reconcile(open: readonly OpenRequest[], known: readonly [DrivenRun, string[]][]): void {
    for (const request of open) {
      const root = [request.sessionId, ...request.above].find((id) => this.#runs.has(id));
      const run = root === undefined ? undefined : this.#runs.get(root);
      if (!run) continue;
      if (isPrompted(run.live) && request.sessionId !== run.sessionId)
        this.#descendants.set(request.sessionId, run.sessionId);
      const { requestId, asks, text } = request;
      run.tell({ type: "request.found", requestId, asks, text, ruling: this.#rulingOn(run, request) });
    }
    const ids = new Set(open.map(({ requestId }) => requestId));
    for (const [run, before] of known) {
      const input = this.#answered(
        run,
        before.filter((id) => !ids.has(id)),
      );
      if (input) run.tell(input);
    }
  }

  #logFailure(message: string, thrown: unknown): void {
    this.#context.log.error(message, { error: messageOf(thrown) });
  }
}

function hostClosed(): AsyncAgentsError {
  return new AsyncAgentsError("host_unavailable", "The host was closed before this could begin. Try again.");
}
