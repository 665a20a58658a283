/**
 * What one live run shows while it works, gathered from host events: tool calls, tokens, open requests, an announced
 * error. In memory only, for the instance that drives the run; the store gets it in merged writes.
 */
import type { HostEvent } from "../../hosts/host.ts";
import type { Verdict } from "../../model/evidence.ts";
import type { RunLimits, Standing } from "../../model/limits.ts";
import { addProgress, countTool, noProgress, type Progress, type Tokens } from "../../model/progress.ts";
import type { Phase, PhaseDetail, Task } from "../../model/task.ts";
import type { EngineContext } from "../context.ts";
import type { Place } from "./slots.ts";

export type Waiting = Extract<PhaseDetail, { kind: "waiting" }>;

/** Characters of a call by which it is known again. */
const COMPARED = 10_000;

export class RunTracker {
  readonly taskId: string;
  readonly sessionId: string;
  readonly parentSessionId: string;
  readonly run: number;
  readonly messageId: string;
  readonly before: Progress;
  /** From the prompt on: what a host shows before that is not of this run. */
  counting = false;
  /** When the host took the prompt, by the clock for durations as all times here but `#lastUpdate`. */
  acceptedAt: number | null = null;
  /** An idle came before the host said that it took the prompt: it is looked at once it has. */
  idleEarly = false;
  /** The host said that the session is idle. */
  heardIdle = false;
  /** The last status call did not list the session, though its messages show no end. */
  foundIdle = false;
  /** The phase that was last written. */
  phase: Phase | null;
  /** Somebody wants it cancelled, and why: stands until the run has ended, however often its host fails to stop it. */
  cancelReason: string | null = null;
  /** What it ends with, while it is being stopped. */
  stopping: Verdict | null = null;
  /** Its end is written, or another process has it: nothing more is to be done for it. */
  isOver = false;
  /** Among the runs that are at work, or in line for that. */
  place: Place | null = null;
  /** Its own limits; the settings have the others. */
  limits: RunLimits = {};
  /** An error that the host reported besides its messages. */
  announced: string | null = null;
  readonly #calls = new Set<string>();
  /** The newest call of each session, and how often it was made in a row. */
  readonly #repeated = new Map<string, { call: string; tool: string; times: number }>();
  readonly #usage = new Map<string, { tokens: Tokens; cost: number }>();
  readonly #requests = new Map<string, Waiting>();
  /** Nothing that was answered is asked again. */
  readonly #answered = new Set<string>();
  readonly #clock: Pick<EngineContext, "now" | "monotonic">;
  /** How long it had worked before this process took it over, as far as anybody saw. */
  readonly #workedBefore: number;
  /** Since when it works, without what it waited for people. */
  #workingSince: number | null = null;
  #askedAt = 0;
  /** When something was last seen of it, or it went on with its work. */
  #seenAt = 0;
  #tools: Progress = noProgress(0);
  /** The last sign of work by the wall clock, as it is stored. */
  #lastUpdate: number;
  #order: Promise<unknown> = Promise.resolve();

  constructor(task: Task, clock: Pick<EngineContext, "now" | "monotonic">) {
    this.#clock = clock;
    this.taskId = task.id;
    this.sessionId = task.sessionId;
    this.parentSessionId = task.parentSessionId;
    this.#workedBefore = Math.max(0, task.progress.lastUpdate - task.run.startedAt);
    this.run = task.run.number;
    this.messageId = task.run.messageId;
    this.before = task.run.before;
    this.phase = task.phase;
    this.#lastUpdate = task.progress.lastUpdate;
  }

  /** Runs writes about this run one after the other; one that fails does not hold up the next. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#order.then(work);
    this.#order = done.catch(() => undefined);
    return done;
  }

  /** Counts what the event shows; says whether the progress is another one now. */
  count(event: HostEvent): boolean {
    switch (event.type) {
      case "tool.called":
        this.#see();
        if (this.#calls.has(event.callId)) return true;
        this.#calls.add(event.callId);
        this.#repeat(event);
        this.#tools = countTool(this.#tools, event.name);
        return true;
      case "usage.counted":
        this.#usage.set(event.messageId, { tokens: event.tokens, cost: event.cost });
        this.#see();
        return true;
      case "text.written":
        this.#see();
        return true;
      default:
        return false;
    }
  }

  #see(): void {
    this.#lastUpdate = this.#clock.now();
    this.#seenAt = this.#clock.monotonic();
  }

  #repeat({ sessionId, callId, name, input }: Extract<HostEvent, { type: "tool.called" }>): void {
    const call = `${name} ${textOf(input) ?? callId}`.slice(0, COMPARED);
    const before = this.#repeated.get(sessionId);
    const times = before?.call === call ? before.times + 1 : 1;
    this.#repeated.set(sessionId, { call, tool: name, times });
  }

  /** What was asked first of that which nobody has answered. */
  get asked(): Waiting | null {
    return this.#requests.values().next().value ?? null;
  }

  /** What it waits for, by ids. */
  get requestIds(): string[] {
    return [...this.#requests.keys()];
  }

  knows(requestId: string): boolean {
    return this.#requests.has(requestId) || this.#answered.has(requestId);
  }

  ask(detail: Waiting): void {
    if (this.#requests.size === 0) this.#askedAt = this.#clock.monotonic();
    this.#requests.set(detail.requestId, detail);
  }

  /** The time until nothing is asked any more was a person's, and does not count as work. */
  answer(requestId: string): void {
    this.#answered.add(requestId);
    if (!this.#requests.delete(requestId) || this.#requests.size > 0) return;
    if (this.#workingSince === null) return;
    this.#workingSince += this.#clock.monotonic() - Math.max(this.#askedAt, this.#workingSince);
  }

  /** It is at work from now on; one that is taken over has worked before. */
  accept(isAdopted = false): void {
    const at = this.#clock.monotonic();
    this.acceptedAt = at;
    this.#workingSince = isAdopted ? at - this.#workedBefore : at;
  }

  /** It goes on: silence from before does not count. */
  stir(): void {
    this.#seenAt = this.#clock.monotonic();
  }

  /** How the run stands, once its host took the prompt. */
  standing(): Standing | null {
    if (this.#workingSince === null) return null;
    const now = this.#clock.monotonic();
    const seenAt = Math.max(this.acceptedAt ?? 0, this.#seenAt);
    return {
      workedMs: now - this.#workingSince,
      quietMs: now - seenAt,
      cost: this.progress().cost - this.before.cost,
      repeated: [...this.#repeated.values()].sort((one, other) => other.times - one.times)[0] ?? null,
    };
  }

  /** The task's totals so far. */
  progress(): Progress {
    let own: Progress = { ...this.#tools, lastUpdate: this.#lastUpdate };
    for (const { tokens, cost } of this.#usage.values()) {
      own = addProgress(own, { ...noProgress(0), tokens, cost });
    }
    return addProgress(this.before, own);
  }
}

/** Null for what cannot be written down, and so cannot be compared. */
function textOf(input: unknown): string | null {
  try {
    return JSON.stringify(input) ?? null;
  } catch {
    return null;
  }
}
