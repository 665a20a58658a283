/**
 * The engine on the Claude host: launching, resuming, cancelling and recovering tasks with the real CLI.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Settings } from "../../../src/engine/context.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { ClaudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { NO_LIMITS } from "../../../src/model/budgets/budget.ts";
import { DEFAULT_LIMITS } from "../../../src/model/limits.ts";
import type { Task } from "../../../src/model/task.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import * as model from "../../../src/testing/models/script.ts";
import { type ClaudeBed, claudeBed } from "./claude-bed.ts";
import { claudeEngine, launch, ended as untilEnded } from "./claude-engine.ts";

const PATIENCE = 60_000;
const dead = new Set<string>();
let bed: ClaudeBed;
let engine: Engine;
let store: Store;
let stopEngine: () => Promise<void>;

beforeAll(async () => {
  bed = await claudeBed();
  ({ engine, store, stop: stopEngine } = await newEngine("ins_1", bed.host));
  await engine.start();
});
afterAll(async () => {
  await stopEngine();
  await bed.close();
});

const newEngine = (id: string, host: ClaudeHost, settings: Partial<Settings> = {}) =>
  claudeEngine(bed, dead, { id, host, settings });

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `engine-${++scripts}`;
  bed.model.script(name, steps);
  return `Do it. ${model.scriptMarker(name)}`;
}

const ended = (task: Task) => untilEnded(store, task);

test(
  "a task completes with its answer, and can be resumed with its history",
  async () => {
    const bash = model.call("Bash", { command: "cat notes.txt", description: "Shows" });
    const task = await launch(engine, script(bash, model.say("three lines")));
    const done = await ended(task);
    expect(done).toMatchObject({ status: "completed", run: { result: "three lines" }, progress: { toolCalls: 1 } });
    expect(done.progress?.cost).toBeGreaterThan(0);
    const resumed = await engine.resumeTask(done, {
      prompt: script(model.say((request) => `before: ${request.assistantTexts.length}`)),
    });
    expect(await ended(resumed)).toMatchObject({ status: "completed", run: { result: "before: 2" } });
  },
  PATIENCE,
);

test(
  "a failed task says why, and a cancelled task is cancelled",
  async () => {
    const failing = await launch(engine, script(model.fail(400, "no such thing")));
    expect(await ended(failing)).toMatchObject({
      status: "error",
      run: { error: expect.stringContaining("no such thing") },
    });
    const held = await launch(engine, script(model.gate("held"), model.say("unheard")));
    await bed.gate("held").reachedBy(1);
    await engine.cancelTask(held, "no longer needed");
    expect(await ended(held)).toMatchObject({ status: "cancelled" });
  },
  PATIENCE,
);

test(
  "a task that waits for a permission shows it, and continues when it is given",
  async () => {
    const touch = model.call("Bash", { command: "touch asked.txt", description: "Makes" });
    const task = await launch(engine, script(touch, model.say("made")));
    const waiting = await eventually(store, async () => {
      const now = await store.task(task.id);
      return now?.phase === "waiting" ? now : null;
    });
    expect(waiting.status).toBe("running");
    await engine.answerTask(waiting, { kind: "permission", decision: "once", message: null });
    expect(await ended(task)).toMatchObject({ status: "completed", run: { result: "made" } });
  },
  PATIENCE,
);

test(
  "a run that exceeds its cost limit is stopped while it works, and can be resumed with a higher limit",
  async () => {
    const host = bed.another();
    const limits = { ...DEFAULT_LIMITS, cost: 0.000_001 };
    const limited = await newEngine("ins_limited", host, { limits });
    await limited.engine.start();
    const bash = (index: number) => model.call("Bash", { command: `cat notes.txt #${index}`, description: "Shows" });
    const before = bed.model.requests.length;
    const task = await launch(limited.engine, script(bash(1), bash(2), bash(3), model.say("all of it")));
    const done = await ended(task);
    expect(done).toMatchObject({ status: "error", run: { error: expect.stringContaining("and the limit is $0.00") } });
    expect(done.progress.cost).toBeGreaterThan(0);
    expect(bed.model.requests.length - before).toBeLessThan(4);
    await limited.stop();
    await host.close();
    const patient = await newEngine("ins_patient", bed.another(), { limits: { ...DEFAULT_LIMITS, cost: 100 } });
    await patient.engine.start();
    const resumed = await patient.engine.resumeTask(done, { prompt: script(model.say("went on")), allow: ["error"] });
    expect(await ended(resumed)).toMatchObject({ status: "completed", run: { result: "went on" } });
    await patient.stop();
  },
  PATIENCE,
);

test(
  "the cost of a run is estimated while it works, and is what Claude reports when it has ended",
  async () => {
    const bash = model.call("Bash", { command: "cat notes.txt", description: "Shows" });
    const task = await launch(engine, script(bash, model.gate("estimated"), model.say("done")));
    await bed.gate("estimated").reachedBy(1);
    const working = await eventually(store, async () => {
      const now = await store.task(task.id);
      return now && now.progress.cost > 0 ? now : null;
    });
    expect(working.status).toBe("running");
    bed.gate("estimated").open();
    const done = await ended(task);
    expect(done.progress.unpriced).toBeUndefined();
    // Both requests used the same number of tokens.
    expect(done.progress.cost / working.progress.cost).toBeCloseTo(2, 1);
  },
  PATIENCE,
);

test(
  "a budget is counted by estimates, stops the run, and lets it go on when it is raised",
  async () => {
    const host = bed.another();
    const budgets = { task: { ...NO_LIMITS, cost: 0.000_001 } };
    const limited = await newEngine("ins_budget", host, { budgets });
    await limited.engine.start();
    // Long enough for a stop to come before the next request, as with real models.
    const bash = (index: number) =>
      model.call("Bash", { command: `sleep 1 && cat notes.txt #${index}`, description: "Shows" });
    const before = bed.model.requests.length;
    const task = await launch(limited.engine, script(...[1, 2, 3, 4, 5].map(bash), model.say("all of it")));
    const done = await ended(task);
    expect(done.run.error).toStartWith(`stopped: the budget of task ${task.id} is used up`);
    expect(bed.model.requests.length - before).toBeLessThanOrEqual(2);
    const change = { limits: { cost: 100 }, by: "me", at: 1, mayRaise: true };
    expect(await store.budgets.set(`task:${task.id}`, change)).toMatchObject({
      live: 0,
      spent: { cost: done.progress.cost },
    });
    const resumed = await limited.engine.resumeTask(done, { prompt: script(model.say("went on")) });
    expect(await ended(resumed)).toMatchObject({ status: "completed", run: { result: "went on" } });
    await limited.stop();
    await host.close();
  },
  PATIENCE,
);

test(
  "the next process finds the unfinished task of a dead process and marks it interrupted",
  async () => {
    const host = bed.another();
    const other = await newEngine("ins_2", host);
    await other.engine.start();
    const task = await launch(other.engine, script(model.gate("dying"), model.say("unheard")));
    await bed.gate("dying").reachedBy(1);
    await host.close();
    await other.stop();
    dead.add("ins_2");
    const third = await newEngine("ins_3", bed.another());
    await third.engine.start();
    const found = await ended(task);
    expect([found.status, found.run.error]).toEqual(["error", expect.stringContaining("interrupted")]);
    await third.stop();
  },
  PATIENCE,
);
