/**
 * One live run with its hands: performs the effects that the model asks for (host calls, writes, timers) and feeds back
 * what came of each. Decides nothing. Invariants: the writes of a run keep their order, and each names this instance as
 * the owner, and the run's fence. A prompt leaves only under the instance's lease.
 */
import { isRefusal, isSessionGone } from "../../hosts/host.ts";
import { budgetBreach } from "../../model/budgets/budget-text.ts";
import type { Chain } from "../../model/budgets/chain.ts";
import { messageOf } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { CANCELLED } from "../../model/evidence.ts";
import type { AbortPurpose, InspectPurpose, RunEffect, RunStep, WakeName } from "../../model/live-run/effects.ts";
import { isEnd, spansWith } from "../../model/live-run/ending.ts";
import type { RunInput } from "../../model/live-run/inputs.ts";
import { isOver, isWanted, type LiveRun } from "../../model/live-run/live-run.ts";
import type { Moment } from "../../model/live-run/moment.ts";
import { inspect } from "../../model/live-run/settling.ts";
import { steeringIds } from "../../model/live-run/steering.ts";
import { step } from "../../model/live-run/step.ts";
import type { WorkSpan } from "../../model/live-run/work-spans.ts";
import { isLive, type Task } from "../../model/task.ts";
import type { Clock } from "../../process/clock.ts";
import { pause } from "../../process/deadline.ts";
import { SerialQueue } from "../../process/serial-queue.ts";
import type { EngineContext } from "../context.ts";
import type { Leftovers } from "./leftovers.ts";
import { RequestGate } from "./request-gate.ts";
import type { Place } from "./slots.ts";

export type RuleEffect = Extract<RunEffect, { type: "rule" }>;

/** What a run needs from the driver of all runs. */
export interface RunSurroundings {
  leftovers: Leftovers;
  announce(task: Task): void;
  /** Answers a request as a written rule says; false if the host did not take it. */
  rule(run: DrivenRun, effect: RuleEffect): Promise<boolean>;
  poll(soon: boolean): void;
  /** Takes a slot for the run, and tells it when its turn has come. */
  takeTurn(run: DrivenRun): void;
  /** Reads the budgets of all runs, and stops those that they leave nothing. Never rejects. */
  readBudgets(): Promise<void>;
  /** The run is over: nobody feeds it any more. */
  release(run: DrivenRun): void;
}

export class DrivenRun {
  readonly #context: EngineContext;
  readonly #surroundings: RunSurroundings;
  readonly #writes = new SerialQueue();
  /** Cancel what the run is to be woken for. */
  readonly #wakes = new Map<WakeName, () => void>();
  #task: Task;
  /** The id of the prompt with which it goes on after a pause, until that is stored. */
  #nextMessageId: string | null = null;
  /** Its slot, or its place in the line for one. */
  place: Place | null = null;
  #live: LiveRun;
  #isStopped = false;
  /** The first prompt of the run in this process. */
  readonly #firstMessageId: string;
  /** What is stored of how it spent its time. */
  #storedSpans: readonly WorkSpan[] | null = null;
  readonly #requests: RequestGate;

  constructor(context: EngineContext, surroundings: RunSurroundings, task: Task, live: LiveRun) {
    this.#context = context;
    this.#surroundings = surroundings;
    this.#task = task;
    this.#live = live;
    this.#firstMessageId = task.run.messageId;
    this.#requests = new RequestGate(context, this, surroundings.readBudgets);
  }

  /** As it was when the run was begun, or continued. */
  get task(): Task {
    return this.#task;
  }

  get live(): LiveRun {
    return this.#live;
  }

  /** Whether a request of it waits until its budgets allow it. */
  get isHeldUp(): boolean {
    return this.#requests.isHolding;
  }

  /** Nothing begins in it any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  get sessionId(): string {
    return this.task.sessionId;
  }

  /** Whether that is a late report about the answer to a prompt of an earlier run. */
  isBefore({ sessionId, answers }: { sessionId: string; answers?: string }): boolean {
    return answers !== undefined && sessionId === this.sessionId && answers < this.#firstMessageId;
  }

  /**
   * Changes the run and does what follows from that; resolves when all of it is done. Rejects only where the host could
   * not stop the run: the run is then as it was, and a poll tries again where that is still wanted.
   */
  feed(input: RunInput): Promise<void> {
    return this.perform(step(this.#live, input, momentOf(this.#context)));
  }

  /** Like `feed`, for those who do not wait. */
  tell(input: RunInput): void {
    this.feed(input).catch(this.#logFailure("a run could not be stopped; the next poll tries again"));
  }

  /** Looks whether the run has ended without being noticed. Never rejects. */
  look(): Promise<void> {
    return this.perform(inspect(this.#live, { name: "hint" })).catch(this.#logFailure("a run was not looked at"));
  }

  async perform({ run, effects }: RunStep): Promise<void> {
    const isEnding = isOver(run) && !isOver(this.#live);
    this.#live = run;
    if (isEnding) this.#leave();
    await Promise.all(effects.map((effect) => this.#do(effect)));
  }

  /** Does the work after the writes about this run that are under way, and before those that follow. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#writes.run(work);
  }

  /**
   * Lets go of the run if it is not this instance's any more, and stops it at our host; cancels it if that is wanted.
   * Rejects when the store cannot be read.
   */
  async verify(): Promise<void> {
    const { store, instance } = this.#context;
    const { id, fence } = this.task;
    // Behind our own writes: a run that those ended is over by then.
    const task = await this.inOrder(() => store.task(id));
    const isOurs = task && isLive(task.status) && task.owner === instance.id && task.fence === fence;
    if (!isOurs) this.tell({ type: "lose" });
    else if (task.cancelRequestedAt !== null && this.#live.stopping === null)
      this.tell({ type: "cancel", reason: CANCELLED });
  }

  /** Resolves when the writes about this run that are under way are done. */
  written(): Promise<void> {
    return this.#writes.idle();
  }

  /**
   * Lets go of the run without ending it: nothing begins any more, but what is under way is still brought to its end.
   */
  stop(): void {
    this.#isStopped = true;
    this.#cancelWakes();
    this.place?.leave();
  }

  #leave(): void {
    const { stage } = this.#live;
    if (stage.name === "over" && stage.why === "lost") {
      const { log } = this.#context;
      log.error("a run is not this instance's any more; it is stopped here", { task: this.task.id });
    }
    this.#cancelWakes();
    this.place?.leave();
    this.#surroundings.release(this);
  }

  #cancelWakes(): void {
    for (const cancel of this.#wakes.values()) cancel();
    this.#wakes.clear();
  }

  async #do(effect: RunEffect): Promise<void> {
    const { leftovers, announce, poll } = this.#surroundings;
    switch (effect.type) {
      case "condense":
        return this.#condense();
      case "prompt":
        return this.#prompt(effect.text);
      case "rest":
        return this.place?.leave();
      case "turn":
        return this.#surroundings.takeTurn(this);
      case "continue":
        return this.#continue();
      case "steer":
        return this.#steer(effect.id);
      case "inspect":
        return this.#inspect(effect.purpose);
      case "abort":
        return this.#abort(effect.purpose);
      case "write":
        return this.#write(effect.event);
      case "rule":
        return this.#rule(effect);
      case "announce":
        return announce(effect.task);
      case "poll":
        return poll(effect.soon);
      case "wake":
        return this.#wake(effect.name, effect.ms);
      case "abandon":
        return leftovers.expect(this.task.run.messageId, this.sessionId, effect.isThere);
      case "sweep":
        return leftovers.stop(this.sessionId, this.task.run.messageId);
    }
  }

  async #condense(): Promise<void> {
    const { host, settings } = this.#context;
    let input: RunInput = { type: "condensed" };
    try {
      await host.condense?.(this.sessionId, settings.fork);
    } catch (thrown) {
      input = { type: "condense.failed", error: messageOf(thrown) };
    }
    if (!this.#isStopped) await this.feed(input);
  }

  /** Only after the next prompt's id is stored, it is sent: whoever finds it unsent later stores another. */
  async #continue(): Promise<void> {
    const { store, host, instance, now, reach } = this.#context;
    const { id, run, fence } = this.task;
    this.#nextMessageId ??= host.newMessageId();
    const messageId = this.#nextMessageId;
    const event = { type: "run.continued", at: now(), run: run.number, messageId } as const;
    try {
      const outcome = await this.inOrder(() => store.apply(id, event, { owner: instance.id, fence, by: instance.id }));
      if (!outcome.changed && outcome.reason !== "no_change") return await this.feed({ type: "lose" });
      this.#nextMessageId = null;
      this.#task = outcome.task ?? this.task;
      reach("continue-stored");
    } catch (thrown) {
      this.#logFailure("a paused run could not go on; the next poll tries again")(thrown);
      if (!this.#isStopped) await this.feed({ type: "continue.failed" });
      return;
    }
    if (!this.#isStopped) await this.feed({ type: "continued" });
  }

  async #prompt(text = this.task.run.prompt): Promise<void> {
    const { host, log } = this.#context;
    const { id, agent, model, run } = this.task;
    const maxCost = this.#live.limits.cost;
    if (!(await this.#mayPrompt())) return;
    this.tell({ type: "prompt.sending" });
    try {
      await host.prompt(this.sessionId, { messageId: run.messageId, text, agent, model, maxCost });
    } catch (thrown) {
      if (this.#isStopped) return;
      const error = messageOf(thrown);
      if (isRefusal(thrown)) return this.feed({ type: "prompt.refused", error });
      log.error("it is not known whether a prompt arrived; its session is searched", { task: id, error });
      return this.feed({ type: "prompt.unanswered", error });
    }
    if (this.#isStopped) return;
    this.#context.reach("prompt-sent");
    await this.feed({ type: "prompt.accepted" });
  }

  /** Reads what was said to the run, and sends what is to be sent. Rejects when the store cannot be read. */
  async readSteering(): Promise<void> {
    const { id, run } = this.task;
    const messages = await this.inOrder(() => this.#context.store.steering(id, run.number));
    if (messages.length > 0 && !this.#isStopped) this.tell({ type: "steering.read", messages });
  }

  /** The message's id is stored before it is sent: whoever sends it again replaces it. */
  async #steer(id: string): Promise<void> {
    const { host, log, reach } = this.#context;
    const { agent, model } = this.task;
    const unanswered: RunInput = { type: "steer.unanswered", id };
    const steered = this.#live.steering.get(id);
    if (steered === undefined) return;
    if (!host.steer) return this.feed({ type: "steer.refused", id, error: cannotSteer(host.kind) });
    try {
      const messageId = steered.messageId ?? (await this.#storeSteering(id));
      if (messageId === null) return await this.feed({ type: "steer.dropped", id });
      if (this.#isStopped) return;
      reach("steer-stored");
      await this.feed({ type: "steer.sending", id, messageId });
      // Without a lease another process may have the run: it sends the message.
      if (this.#context.supervisor.lease(this.#context.instance.id)?.isHeld === false)
        return await this.feed(unanswered);
      await host.steer(this.sessionId, { messageId, text: steered.text, agent, model });
      reach("steer-sent");
      await this.feed({ type: "steer.arrived", id });
    } catch (thrown) {
      if (this.#isStopped) return;
      const error = messageOf(thrown);
      log.error("a message into a run was not sent, or it is not known", { task: this.task.id, error });
      const isRefused = this.#live.steering.get(id)?.messageId != null && isRefusal(thrown);
      await this.feed(isRefused ? { type: "steer.refused", id, error } : unanswered);
    }
  }

  /** The id that the message has in the session from now on; null if it is not to be sent any more. */
  async #storeSteering(id: string): Promise<string | null> {
    const { store, host, instance, now } = this.#context;
    const messageId = host.newMessageId();
    const event = { type: "steer.sent", at: now(), run: this.task.run.number, id, messageId } as const;
    const expected = { owner: instance.id, fence: this.task.fence, by: instance.id };
    const outcome = await this.inOrder(() => store.apply(this.task.id, event, expected));
    if (outcome.changed) return messageId;
    // Perhaps it was stored at the first attempt, whose answer was lost.
    const message = outcome.reason === "no_change" ? await store.steeringMessage(id) : null;
    return message?.state === "sent" ? message.messageId : null;
  }

  /**
   * Waits until this instance knows that the run is its own. One that lost its lease looks first: the run may have been
   * taken from it before it knew that the run had begun. False if there is nothing to prompt any more.
   */
  async #mayPrompt(): Promise<boolean> {
    const { log, supervisor, instance, settings } = this.#context;
    if (!(await this.#fitsBudgets())) return this.#refusePrompt();
    const lease = supervisor.lease(instance.id);
    if (lease === null || (lease.isHeld && lease.term === 0)) return true;
    log.info("a prompt waits until this instance knows that the run is still its own", { task: this.task.id });
    for (;;) {
      await lease.untilHeld();
      const isVerified = await this.verify().then(
        () => true,
        () => false,
      );
      if (this.#isStopped || isOver(this.#live)) return false;
      if (!isWanted(this.#live)) return this.#refusePrompt();
      if (isVerified && lease.isHeld) return true;
      await pause(settings.pollMs, { clock: this.#context });
    }
  }

  /** Nothing was sent: the run ends as it is about to, even if its host cannot stop the session. */
  async #refusePrompt(): Promise<false> {
    const isToEnd = !this.#isStopped && !isWanted(this.#live);
    if (isToEnd) await this.feed({ type: "prompt.refused", error: CANCELLED });
    return false;
  }

  /** The budgets may have been used up while the run waited for its turn. */
  async #fitsBudgets(): Promise<boolean> {
    const { store } = this.#context;
    try {
      const chains = await store.budgets.chains([this.task.id]);
      this.heedBudgets(chains.get(this.task.id) ?? []);
    } catch (thrown) {
      this.#logFailure("budgets could not be read; the next poll tries again")(thrown);
    }
    return !this.#isStopped && !isOver(this.#live) && isWanted(this.#live);
  }

  /** Stops the run if its budgets leave it nothing. */
  heedBudgets(chain: Chain): void {
    if (chain.length === 0 && this.#live.budgeting === null) return;
    const isTimed = chain.some(({ limits }) => limits.ms !== null);
    const budgets = chain.length === 0 ? null : { isTimed };
    // Not waited for: a host may stop only when a request that waits here is over.
    this.tell({ type: "budgets.read", budgets, breach: budgetBreach(chain) });
  }

  /** Waits until the budgets allow another request to the model; says why if they never will. */
  mayRequest(): Promise<string | null> {
    return this.#requests.mayRequest();
  }

  async #inspect(purpose: InspectPurpose): Promise<void> {
    const isSearch = purpose.name === "search";
    const { messageId } = this.task.run;
    let input: RunInput;
    try {
      const evidence = await this.#context.host.inspect(this.sessionId, messageId, steeringIds(this.#live));
      // It was paused meanwhile, and went on with another prompt: this is not what that one did.
      const isStale = this.task.run.messageId !== messageId;
      input = isStale ? { type: "inspect.failed", purpose, isGone: false } : { type: "inspected", purpose, evidence };
    } catch (thrown) {
      const isGone = isSessionGone(thrown);
      if (!isGone && !isSearch && purpose.name !== "host.ended") {
        this.#logFailure("a run could not be inspected; the next poll tries again")(thrown);
      }
      input = { type: "inspect.failed", purpose, isGone };
    }
    if (!isSearch || !this.#isStopped) await this.feed(input);
  }

  async #abort(purpose: AbortPurpose): Promise<void> {
    try {
      await this.#surroundings.leftovers.during(this.sessionId, this.#context.host.abort(this.sessionId));
    } catch (thrown) {
      const isGone = isSessionGone(thrown);
      if (purpose.name === "deleted") this.#logFailure("a deleted session was not stopped")(thrown);
      await this.feed({ type: "abort.failed", purpose, isGone, error: messageOf(thrown) });
      if (purpose.name === "stop" && !isGone) throw thrown;
      return;
    }
    await this.feed({ type: "aborted", purpose });
  }

  async #rule(effect: RuleEffect): Promise<void> {
    let isTaken = false;
    try {
      isTaken = await this.#surroundings.rule(this, effect);
    } catch (thrown) {
      this.#logFailure("the answer of a policy was not delivered")(thrown);
    }
    if (!this.#isStopped) await this.feed({ type: "ruled", request: effect.request, isTaken });
  }

  async #write(event: TaskEvent): Promise<void> {
    const { store, instance, reach } = this.#context;
    let input: RunInput;
    try {
      const expected = { owner: instance.id, fence: this.task.fence, by: instance.id };
      const outcome = await this.inOrder(async () => {
        const spans = spansWith(this.#live, event);
        const isStored = spans === this.#storedSpans;
        const applied = await store.apply(this.task.id, event, expected, isStored ? undefined : spans);
        if (applied.changed) this.#storedSpans = spans;
        return applied;
      });
      if (isEnd(event) && outcome.changed) reach("outbox-written");
      if (event.type === "run.paused" && outcome.changed) reach("pause-written");
      input = { type: "written", event, outcome };
    } catch (thrown) {
      const next = event.type === "run.progressed" ? "it is left out" : "the next poll tries again";
      this.#logFailure(`${event.type} could not be written; ${next}`)(thrown);
      input = { type: "write.failed", event };
    }
    await this.feed(input);
    if (event.type === "run.progressed" && this.#live.budgeting !== null) await this.#surroundings.readBudgets();
  }

  #wake(name: WakeName, ms: number): void {
    if (this.#isStopped) return;
    this.#wakes.get(name)?.();
    const wake = () => {
      this.#wakes.delete(name);
      this.tell({ type: "woken", name });
    };
    this.#wakes.set(name, this.#context.after(ms, wake));
  }

  #logFailure(message: string): (thrown: unknown) => void {
    return (thrown) => this.#context.log.error(message, { task: this.task.id, error: messageOf(thrown) });
  }
}

function cannotSteer(kind: string): string {
  return `${kind} takes no messages while it works; resume the task with this text when it has ended`;
}

export function momentOf({ now, monotonic }: Pick<Clock, "now" | "monotonic">): Moment {
  return { awake: monotonic(), wall: now() };
}
