/** What a run has used, across its pauses and in the hands of several processes: nothing is lost or counted twice. */
import { expect, test } from "bun:test";
import type { TaskEvent } from "../../../src/model/events.ts";
import { noEvidence } from "../../../src/model/evidence.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import { type LiveRun, launchedRun } from "../../../src/model/live-run/live-run.ts";
import { adoptPaused } from "../../../src/model/live-run/pausing.ts";
import { step } from "../../../src/model/live-run/step.ts";
import { noProgress, type Progress } from "../../../src/model/progress.ts";
import type { Task } from "../../../src/model/task.ts";
import { transition } from "../../../src/model/transition.ts";
import { LIMITS, sampleTask } from "./walk.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const tokens = (input: number) => ({ ...noProgress(0).tokens, input });
const counted = (messageId: string, input: number, cost: number): RunInput => {
  return { type: "usage.counted", messageId, tokens: tokens(input), cost };
};

/** A run with a budget of time, whose writes succeed. */
class Driven {
  task: Task;
  run: LiveRun;
  #awake = 1_000;

  constructor(task = sampleTask(), run = launchedRun(task, LIMITS)) {
    this.task = task;
    this.run = run;
    this.feed({ type: "budgets.read", budgets: { isTimed: true }, breach: null });
  }

  get now() {
    return { awake: this.#awake, wall: this.#awake };
  }

  pass(ms: number): this {
    this.#awake += ms;
    return this;
  }

  feed(...inputs: RunInput[]): this {
    for (const input of inputs) {
      const { run, effects } = step(this.run, input, this.now);
      this.run = run;
      for (const effect of effects) if (effect.type === "write") this.#write(effect.event);
    }
    return this;
  }

  #write(event: TaskEvent): void {
    const outcome = transition(this.task, event);
    if (outcome.changed) this.task = outcome.task;
    this.feed({ type: "written", event, outcome });
  }

  /** The turn ends with an error, and the provider says when it will be back. */
  refused(waitMs: number, progress: Partial<Progress> = {}): this {
    const error = { message: "limit reached", aborted: false, until: this.now.wall + waitMs };
    const evidence = { ...noEvidence(true), begun: true, error, progress: { ...noProgress(0), ...progress } };
    this.feed({ type: "inspected", purpose: { name: "hint" }, evidence });
    return this.halted();
  }

  /** The host is stopped for the pause, and its session shows no end. */
  halted(): this {
    const purpose = { name: "pause" } as const;
    return this.feed({ type: "aborted", purpose }, { type: "inspected", purpose, evidence: noEvidence(true) });
  }

  /** Its time has come: the next prompt is on its way. */
  goOn(): this {
    return this.feed({ type: "poll.done", isWaiting: false }, { type: "turn.came" }, { type: "continued" });
  }

  cancel(): this {
    this.feed({ type: "cancel", reason: "enough" });
    const { stopping } = this.run;
    return stopping === null ? this : this.feed({ type: "aborted", purpose: { name: "stop", attempt: stopping } });
  }
}

const begun = () => new Driven().feed({ type: "turn.came" }, { type: "prompt.accepted" });

test("working time is that of all prompts, without pauses and without the way of a prompt to its host", () => {
  const driven = begun()
    .pass(4 * MINUTE)
    .refused(HOUR);
  expect([driven.task.phase, driven.task.progress.workedMs]).toEqual(["paused", 4 * MINUTE]);
  driven.pass(2 * HOUR).goOn();
  expect(driven.run.stage.name).toBe("prompting");
  // LIMITS allow ten minutes of work: neither the pause nor a slow host counts.
  driven.pass(20 * MINUTE).feed({ type: "poll.done", isWaiting: false });
  expect(driven.run.stopping).toBeNull();
  driven
    .feed({ type: "prompt.accepted" })
    .pass(3 * MINUTE)
    .cancel();
  expect([driven.task.status, driven.task.progress.workedMs]).toEqual(["cancelled", 7 * MINUTE]);
});

test("a paused run that is cancelled has worked until its pause", () => {
  const driven = begun()
    .pass(4 * MINUTE)
    .refused(HOUR)
    .pass(30 * MINUTE)
    .cancel();
  expect([driven.task.status, driven.task.progress.workedMs]).toEqual(["cancelled", 4 * MINUTE]);
});

test("the time that counts for the limit of a run goes on after a pause where it was", () => {
  const driven = begun()
    .pass(6 * MINUTE)
    .refused(HOUR)
    .pass(2 * HOUR)
    .goOn()
    .feed({ type: "prompt.accepted" });
  driven.pass(5 * MINUTE).feed({ type: "text.written" }, { type: "poll.done", isWaiting: false });
  expect(driven.run.stopping?.verdict).toMatchObject({ error: expect.stringContaining("took longer than 10 minutes") });
});

test("what was read of a run before its pause, and arrives in it, is not counted again", () => {
  const read = { ...noEvidence(true), begun: true, progress: { ...noProgress(0), tokens: tokens(100), cost: 0.5 } };
  const driven = begun()
    .feed(counted("a", 100, 0.5))
    .refused(HOUR);
  driven.feed({ type: "inspected", purpose: { name: "usage" }, evidence: read });
  expect(driven.task.progress).toMatchObject({ tokens: { input: 100 }, cost: 0.5 });
});

test("tokens and costs of each prompt are added: what events counted, what messages show, and what a host corrects", () => {
  const driven = begun().feed(counted("a", 100, 0.5), counted("b", 50, 0.3), { type: "cost.reported", cost: 0.6 });
  // Its messages show a request that no event told.
  driven.refused(HOUR, { tokens: tokens(170) });
  expect(driven.task.progress).toMatchObject({ tokens: { input: 170 }, cost: 0.6 });
  driven
    .pass(2 * HOUR)
    .goOn()
    .feed({ type: "prompt.accepted" }, counted("c", 30, 0.2));
  // A host may report a message of before once more.
  driven.feed(counted("b", 50, 0.3), { type: "cost.reported", cost: 0.1 }).cancel();
  expect(driven.task.progress.tokens.input).toBe(200);
  expect(driven.task.progress.cost).toBeCloseTo(0.7);
});

test("another process that takes up a paused run adds to what the first one stored", () => {
  const { task, now } = begun()
    .feed(counted("a", 100, 0.5))
    .pass(4 * MINUTE)
    .refused(HOUR);
  const adopted = transition(task, { type: "task.adopted", at: now.wall, owner: "other" });
  if (!adopted.changed) throw new Error(adopted.reason);
  const other = new Driven(adopted.task, adoptPaused(adopted.task, LIMITS, { awake: 1_000, wall: 1_000 }).run);
  other
    .pass(2 * HOUR)
    .feed({ type: "poll.done", isWaiting: false })
    .halted()
    .goOn()
    .feed({ type: "prompt.accepted" }, counted("b", 30, 0.2))
    .pass(3 * MINUTE)
    .cancel();
  expect(other.task.progress).toMatchObject({ tokens: { input: 130 }, cost: 0.7, workedMs: 7 * MINUTE });
});
