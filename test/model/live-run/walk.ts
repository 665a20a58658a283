/**
 * A live run in a small simulated world, for random walks: a host that works on one prompt, a store that is
 * `transition`, and effects that are answered in any order, late, more than once, or with a failure. Each step checks
 * what must always hold.
 */
import { expect } from "bun:test";
import type { TaskEvent } from "../../../src/model/events.ts";
import { type Evidence, noEvidence } from "../../../src/model/evidence.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../src/model/limits.ts";
import type { RunEffect, RunStep, WakeName } from "../../../src/model/live-run/effects.ts";
import { isEnd } from "../../../src/model/live-run/ending.ts";
import type { ResultInput, RunInput, SteeringInput } from "../../../src/model/live-run/inputs.ts";
import { type LiveRun, launchedRun } from "../../../src/model/live-run/live-run.ts";
import type { Moment } from "../../../src/model/live-run/moment.ts";
import { step } from "../../../src/model/live-run/step.ts";
import { isSteering, type SteeringMessage, steered } from "../../../src/model/steering.ts";
import type { Task } from "../../../src/model/task.ts";
import { type Transition, transition } from "../../../src/model/transition.ts";
import { newTask } from "../../../src/testing/sample-task.ts";

export const LIMITS: Limits = { ...DEFAULT_LIMITS, stallMs: 60_000, runMs: 600_000, repeats: 3 };

/** The stages before the prompt is sent. */
const UNSENT: ReadonlySet<LiveRun["stage"]["name"]> = new Set(["unstarted", "condensing"]);

/** What the host does next. */
export const WORK = [
  "begin",
  "call",
  "retry",
  "retry at a time",
  "ask",
  "ask a rule",
  "reply",
  "take",
  "finish",
  "fail",
  "fail until a time",
  "stop silently",
] as const;
type Work = (typeof WORK)[number];

/** How an effect is answered. `lost`: it had its effect, and the answer says that nobody knows. */
export type Outcome = "ok" | "failed" | "lost" | "gone";

export function sampleTask(fields: Parameters<typeof newTask>[1] = {}): Task {
  const created = transition(null, { type: "task.created", at: 1_000, task: newTask("task", fields) });
  if (!created.changed) throw new Error(created.reason);
  return created.task;
}

export function sampleRun(fields: Parameters<typeof newTask>[1] = {}): LiveRun {
  return launchedRun(sampleTask(fields), LIMITS);
}

export class Walk {
  run: LiveRun;
  task: Task;
  readonly now: Moment = { awake: 0, wall: 1_000 };
  /** Effects that nobody has answered yet. */
  readonly pending: RunEffect[] = [];
  readonly timers = new Set<WakeName>();
  readonly effects: RunEffect[] = [];
  readonly host = {
    hasPrompt: false,
    state: "idle" as "idle" | "busy" | "retrying",
    evidence: noEvidence(false) as Evidence,
    requests: [] as string[],
    isGone: false,
    /** Steering messages in the session that the agent has not taken up. */
    unread: [] as string[],
  };
  /** Steering messages as the store has them. */
  readonly said = new Map<string, SteeringMessage>();
  /** A run was ended on evidence while its agent was at work. */
  hasLied = false;
  /** How often the store has given the run another prompt. */
  continuations = 0;
  /** Another process owns the task. */
  isStolen = false;
  #requests = 0;

  constructor(isForked = false) {
    this.task = sampleTask({ isForked });
    this.run = launchedRun(this.task, LIMITS);
  }

  count(type: RunEffect["type"]): number {
    return this.effects.filter((effect) => effect.type === type).length;
  }

  get ends(): TaskEvent[] {
    return this.effects.flatMap((effect) => (effect.type === "write" && isEnd(effect.event) ? [effect.event] : []));
  }

  get isOver(): boolean {
    return this.run.stage.name === "over";
  }

  /** One input, with what must hold at every step. */
  feed(input: RunInput): RunStep {
    this.now.awake += 1;
    this.now.wall += 1;
    const before = this.run;
    const after = step(before, input, { ...this.now });
    checkStep(before, input, after);
    this.run = after.run;
    const hasNoEnd = before.ending === null && before.stopping === null;
    const isJudged = input.type === "inspected" && hasNoEnd && after.run.ending !== null;
    if (isJudged && this.host.state !== "idle") this.hasLied = true;
    for (const effect of after.effects) {
      this.effects.push(effect);
      if (effect.type === "wake") this.timers.add(effect.name);
      else if (IS_ANSWERED[effect.type]) this.pending.push(effect);
    }
    if (this.isOver) this.timers.clear();
    expect(this.count("prompt")).toBeLessThanOrEqual(1 + this.continuations);
    return after;
  }

  pass(ms: number): void {
    this.now.awake += ms;
    this.now.wall += ms;
  }

  /** Answers one of the pending effects; `keep`: it will be answered once more. Writes are answered in their order. */
  answer(pick: number, outcome: Outcome, keep = false): void {
    const chosen = this.pending[pick % Math.max(1, this.pending.length)];
    const effect = chosen?.type === "write" ? this.pending.find(({ type }) => type === "write") : chosen;
    if (!effect) return;
    if (!keep || effect.type === "write") this.pending.splice(this.pending.indexOf(effect), 1);
    const input = this.#perform(effect, outcome);
    if (input) this.feed(input);
  }

  fire(): void {
    for (const name of [...this.timers]) {
      this.timers.delete(name);
      this.feed({ type: "woken", name });
    }
  }

  /** Somebody says something to the run; the process is told so often, also never. */
  say(times: number): void {
    const id = `s${this.said.size}`;
    const event = { type: "steer.accepted", at: this.now.wall, run: 0, id, text: "more", by: "me" } as const;
    const accepted = transition(this.task, event).changed ? steered(null, "task", event) : null;
    if (accepted) this.said.set(id, accepted);
    for (let count = 0; count < times; count++) this.#readSteering();
  }

  #readSteering(): void {
    this.feed({ type: "steering.read", messages: [...this.said.values()] });
  }

  /** The host goes on; it is told so often, also never. */
  work(what: Work, times: number): void {
    const inputs = this.#work(what);
    for (let count = 0; count < times; count++) for (const input of inputs) this.feed(input);
  }

  poll(): void {
    const askedAt = ++this.now.awake;
    const { state, requests } = this.host;
    const before = [...this.run.requests.keys()];
    const closed = before.filter((id) => !requests.includes(id));
    for (const requestId of requests) this.feed({ type: "request.found", requestId, asks: "question", text: "?" });
    if (closed.length > 0) this.feed({ type: "session.answered", requestIds: closed, answer: null });
    const status = state === "retrying" ? { state, reason: "overloaded", count: 1 } : { state: "busy" as const };
    this.feed({ type: "status.read", askedAt, status: state === "idle" ? null : status });
    this.feed({ type: "poll.done", isWaiting: false });
  }

  /** Nothing fails any more, and the agent brings its work to an end: the run must get to its own. */
  calm(rounds = 40): void {
    for (let round = 0; round < rounds && !this.isOver; round++) {
      this.feed({ type: "turn.came" });
      for (let count = this.pending.length; count > 0; count--) this.answer(0, "ok");
      if (this.said.size > 0) this.#readSteering();
      this.work("reply", 0);
      this.work("take", 0);
      this.work("finish", 0);
      this.pass(30_000);
      this.fire();
      this.poll();
    }
  }

  #work(what: Work): RunInput[] {
    const { host } = this;
    if (!host.hasPrompt || (host.state === "idle" && what !== "begin")) return [];
    const isDone = host.evidence.answer !== null || host.evidence.error !== null;
    switch (what) {
      case "begin":
        if (isDone || host.evidence.begun) return [];
        host.state = "busy";
        host.evidence = { ...host.evidence, begun: true };
        return [{ type: "prompt.seen" }, { type: "session.working" }];
      case "call":
        host.evidence = { ...host.evidence, worked: true };
        return [{ type: "tool.called", sessionId: "task", callId: `c${this.now.awake}`, name: "read", input: {} }];
      case "retry":
        host.state = "retrying";
        return [{ type: "session.retrying", reason: "overloaded", count: 1 }];
      case "retry at a time":
        host.state = "retrying";
        return [{ type: "session.retrying", reason: "quota", count: 1, until: this.now.wall + 100_000 }];
      case "ask": {
        const requestId = `r${++this.#requests}`;
        host.requests.push(requestId);
        return [{ type: "session.asked", requestId, asks: "question", text: "?" }];
      }
      case "ask a rule": {
        const requestId = `r${++this.#requests}`;
        host.requests.push(requestId);
        // Every other rule gives people some time.
        const ruling = { decision: "deny", reason: "no", afterMs: (this.#requests % 2) * 10_000 } as const;
        return [{ type: "session.asked", requestId, asks: "permission", text: "?", ruling }];
      }
      case "reply": {
        const requestIds = host.requests.splice(0);
        return requestIds.length > 0 ? [{ type: "session.answered", requestIds, answer: null }] : [];
      }
      case "take": {
        const { unread, evidence } = host;
        if (unread.length === 0 || host.requests.length > 0 || this.run.isHostDead) return [];
        host.evidence = { ...evidence, begun: true, answer: null, taken: [...evidence.taken, ...unread] };
        host.unread = [];
        return [{ type: "other.taken" }, { type: "session.working" }];
      }
      case "finish":
        if (host.requests.length > 0) return [];
        if (host.unread.length > 0) {
          // It wrote its answer, and takes up what was said meanwhile.
          host.evidence = { ...host.evidence, begun: true, worked: true, answer: { text: "not yet" } };
          return [];
        }
        host.state = "idle";
        host.evidence = { ...host.evidence, begun: true, worked: true, answer: { text: "done" } };
        return [{ type: "session.idle" }];
      case "fail":
        host.state = "idle";
        host.requests = [];
        host.evidence = { ...host.evidence, error: { message: "overloaded", aborted: false } };
        return [{ type: "session.failed", error: "overloaded", aborted: false }, { type: "session.idle" }];
      case "fail until a time": {
        host.state = "idle";
        host.requests = [];
        const until = this.now.wall + 50_000;
        host.evidence = { ...host.evidence, error: { message: "quota", aborted: false, until } };
        return [{ type: "session.failed", error: "quota", aborted: false }, { type: "session.idle" }];
      }
      case "stop silently":
        host.state = "idle";
        host.requests = [];
        return [];
    }
  }

  #perform(effect: RunEffect, outcome: Outcome): ResultInput | SteeringInput | null {
    const { host } = this;
    const error = `${outcome}!`;
    switch (effect.type) {
      case "condense":
        return outcome === "ok" ? { type: "condensed" } : { type: "condense.failed", error };
      case "continue": {
        // Its id is chosen once, however often the write is repeated.
        const messageId = `next ${this.continuations}`;
        const event = { type: "run.continued", at: this.now.wall, run: 0, messageId } as const;
        const written = outcome === "ok" || outcome === "lost" ? this.#write(event) : null;
        if (written === null || outcome === "lost") return { type: "continue.failed" };
        if (!written.changed && written.reason !== "no_change") {
          this.feed({ type: "lose" });
          return null;
        }
        this.continuations++;
        host.hasPrompt = false;
        return { type: "continued" };
      }
      case "prompt":
        if (outcome === "ok" || outcome === "lost") this.#receive();
        if (outcome === "ok") return { type: "prompt.accepted" };
        return { type: outcome === "gone" ? "prompt.refused" : "prompt.unanswered", error };
      case "steer": {
        const messageId = this.run.steering.get(effect.id)?.messageId ?? `m-${effect.id}`;
        const { id } = effect;
        const sent = { type: "steer.sent", at: this.now.wall, run: 0, id, messageId } as const;
        if (this.run.steering.get(id)?.messageId === null && !this.#write(sent).changed) {
          return { type: "steer.dropped", id };
        }
        this.feed({ type: "steer.sending", id, messageId });
        const isKnown = host.unread.includes(messageId) || host.evidence.taken.includes(messageId);
        if ((outcome === "ok" || outcome === "lost") && !isKnown) host.unread.push(messageId);
        if (outcome === "ok") return { type: "steer.arrived", id };
        return outcome === "gone" ? { type: "steer.refused", id, error } : { type: "steer.unanswered", id };
      }
      case "inspect": {
        const { purpose } = effect;
        if (outcome === "ok") return { type: "inspected", purpose, evidence: host.evidence };
        return { type: "inspect.failed", purpose, isGone: host.isGone };
      }
      case "abort":
        if (outcome === "ok" || outcome === "lost") this.#abort();
        if (outcome === "ok") return { type: "aborted", purpose: effect.purpose };
        return { type: "abort.failed", purpose: effect.purpose, isGone: host.isGone, error };
      case "rule": {
        const { requestId } = effect.request;
        const isOpen = host.requests.includes(requestId);
        if (outcome === "ok" || outcome === "lost") host.requests = host.requests.filter((id) => id !== requestId);
        return { type: "ruled", request: effect.request, isTaken: isOpen && outcome === "ok" };
      }
      case "write": {
        const written = outcome === "ok" || outcome === "lost" ? this.#write(effect.event) : null;
        if (written === null || outcome === "lost") return { type: "write.failed", event: effect.event };
        return { type: "written", event: effect.event, outcome: written };
      }
      default:
        return null;
    }
  }

  #receive(): void {
    const { host } = this;
    // Only what follows the newest prompt is evidence.
    if (!host.hasPrompt) host.evidence = noEvidence(true);
    host.hasPrompt = true;
  }

  #abort(): void {
    const { host } = this;
    if (host.state === "idle") return;
    host.state = "idle";
    host.requests = [];
    host.evidence = { ...host.evidence, error: { message: "aborted", aborted: true } };
  }

  #write(event: TaskEvent): Transition {
    if (this.isStolen) return { changed: false, task: this.task, reason: "other_owner" };
    const outcome = transition(this.task, event);
    if (!outcome.changed) return outcome;
    this.task = outcome.task;
    if (!isSteering(event)) return outcome;
    const message = steered(this.said.get(event.id) ?? null, "task", event);
    if (message === null) return { changed: false, task: this.task, reason: "no_change" };
    this.said.set(event.id, message);
    return outcome;
  }
}

/** The effects whose performer reports back. Complete, so that a new effect does not compile without it. */
const IS_ANSWERED: Readonly<Record<RunEffect["type"], boolean>> = {
  condense: true,
  prompt: true,
  rest: false,
  turn: false,
  continue: true,
  steer: true,
  inspect: true,
  abort: true,
  write: true,
  rule: true,
  announce: false,
  poll: false,
  wake: false,
  abandon: false,
  sweep: false,
};

/** What holds for every single step, whatever the input. */
export function checkStep(before: LiveRun, input: RunInput, { run, effects }: RunStep): void {
  const types = effects.map(({ type }) => type);
  for (const type of new Set(types)) {
    // A phase and an end may be written together, the receipts of what was said to the run, and its working time.
    const isTimed = input.type === "poll.done" && before.budgeting?.isTimed === true;
    const most = type === "write" ? 2 + before.steering.size + Number(isTimed) : 1;
    expect(types.filter((other) => other === type).length).toBeLessThanOrEqual(most);
  }
  if (before.stage.name === "over") {
    expect(run.stage.name).toBe("over");
    const isCleanedUp = before.stage.isPromptOut && run.stage.name === "over" && !run.stage.isPromptOut;
    expect(types.filter((type) => !isCleanedUp || (type !== "sweep" && type !== "abandon"))).toEqual([]);
    return;
  }
  if (run.stage.name === "over") {
    const isEnded = input.type === "written" && isEnd(input.event) && input.outcome.changed;
    const isLost = input.type === "lose" || (input.type === "written" && !input.outcome.changed);
    expect(run.stage.why).toBe(isEnded ? "ended" : "lost");
    expect(isEnded || isLost).toBe(true);
  }
  if (types.includes("prompt")) {
    expect([before.stopping, before.ending]).toEqual([null, null]);
    expect(["turn.came", "condensed", "continued"]).toContain(input.type);
  }
  const [end, second] = effects.flatMap((effect) =>
    effect.type === "write" && isEnd(effect.event) ? [effect.event] : [],
  );
  expect(second).toBeUndefined();
  if (end) checkEnd(before, input, end);
}

/**
 * An end is written on evidence, on a command, when the prompt failed, or again; never while another write is under
 * way.
 */
function checkEnd(before: LiveRun, input: RunInput, end: TaskEvent): void {
  if (before.ending !== null) {
    expect(before.ending.isWriting).toBe(false);
    expect(["poll.done", "cancel", "interrupt"]).toContain(input.type);
    return;
  }
  if (end.type === "run.completed") {
    if (input.type !== "inspected") throw new Error(`completed after ${input.type}`);
    expect([input.evidence.answer?.text, input.evidence.worked, input.evidence.error]).toEqual([
      end.result,
      true,
      null,
    ]);
    return;
  }
  const causes: Partial<Record<RunInput["type"], boolean>> = {
    inspected: true,
    "inspect.failed": input.type === "inspect.failed" && input.isGone,
    aborted: true,
    "abort.failed": input.type === "abort.failed" && (input.isGone || input.purpose.name === "abandon"),
    "prompt.refused": true,
    "condense.failed": true,
    "session.deleted": end.type === "run.cancelled",
    cancel: end.type === "run.cancelled" && UNSENT.has(before.stage.name),
    "budgets.read": input.type === "budgets.read" && input.breach !== null && UNSENT.has(before.stage.name),
    "poll.done": UNSENT.has(before.stage.name) && before.cancelReason !== null,
    interrupt: true,
  };
  expect([input.type, causes[input.type] ?? false]).toEqual([input.type, true]);
}
