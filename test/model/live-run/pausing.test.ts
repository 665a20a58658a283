/** How paused runs go on when a process or its host failed. */
import { describe, expect, test } from "bun:test";
import { type Evidence, noEvidence } from "../../../src/model/evidence.ts";
import type { RunStep } from "../../../src/model/live-run/effects.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import type { LiveRun } from "../../../src/model/live-run/live-run.ts";
import { adoptPaused, goesOn } from "../../../src/model/live-run/pausing.ts";
import type { Task } from "../../../src/model/task.ts";
import { after, begun, effectsOf, type Happening, polled, shown } from "./steps.ts";
import { LIMITS, sampleRun, sampleTask } from "./walk.ts";

/** What was to be written is stored. */
const written = ({ effects }: RunStep): Happening[] =>
  effects.flatMap((effect) => {
    if (effect.type !== "write") return [];
    const outcome = { changed: true, task: sampleTask(), notice: null } as const;
    return [{ type: "written", event: effect.event, outcome }];
  });

test("a run that waited for its provider in a dead process waits on within its limits only", () => {
  const created = sampleTask();
  const at = { awake: 5_000, wall: 90_000 };
  const taken = (until: number, limits = LIMITS) => {
    const phaseDetail = { kind: "retrying", reason: "quota", count: 1, until } as const;
    return adoptPaused({ ...created, phase: "retrying", phaseDetail }, limits, at);
  };
  const soon = taken(at.wall + 60_000);
  expect([soon.run.phase, soon.run.stage.name]).toEqual(["paused", "paused"]);
  for (const late of [
    taken(at.wall + 2 * LIMITS.quotaMs),
    taken(1e20),
    taken(at.wall + 1, { ...LIMITS, quotaWaits: 0 }),
  ]) {
    expect(late.effects).toMatchObject([{ type: "abort", purpose: { name: "stop" } }]);
    expect(late.run.stopping?.verdict).toMatchObject({ outcome: "error" });
  }
});

test("a run whose prompt has not arrived waits for no provider: a person's turn in its session does", () => {
  const phaseDetail = { kind: "retrying", reason: "quota", count: 1, until: 90_000 } as const;
  const task: Task = { ...sampleTask(), phase: "retrying", phaseDetail };
  expect(goesOn(task, noEvidence(true))).toBe(true);
  expect(goesOn(task, noEvidence(false))).toBe(false);
});

test("a run that may not wait so long is stopped by a status call, not by an event, which may be late", () => {
  const retry = { reason: "overloaded", count: 1, until: 3 * LIMITS.quotaMs };
  const heard = after(sampleRun(), ...begun, { type: "session.retrying", ...retry });
  expect([heard.run.phase, heard.run.stopping]).toEqual(["retrying", null]);
  const over: Partial<Evidence> = { begun: true, worked: true, answer: { text: "Done." } };
  expect(effectsOf(after(heard.run, shown("hint", over)))).toEqual(["completed: Done."]);
  const status = { state: "retrying", ...retry } as const;
  const read = after(heard.run, [30_000, { type: "status.read", status, askedAt: 29_000 }]);
  expect(effectsOf(read)).toEqual(["abort stop"]);
  expect(read.run.stopping?.verdict).toMatchObject({ outcome: "error" });
});

describe("a run that was over when the host's word of a retry paused it", () => {
  const retrying: RunInput = { type: "session.retrying", reason: "overloaded", count: 1, until: 600_000 };
  const paused = after(sampleRun(), ...begun, retrying);
  const halted: Happening[] = [...written(paused), { type: "aborted", purpose: { name: "pause" } }];
  const over: Partial<Evidence> = { begun: true, worked: true, answer: { text: "Done." } };
  const unread: RunInput = { type: "inspect.failed", purpose: { name: "pause" }, isGone: false };

  test("ends with its answer, and does not wait for its provider", () => {
    expect(effectsOf(after(paused.run, ...halted))).toEqual(["inspect pause", "rest", "poll"]);
    expect(effectsOf(after(paused.run, ...halted, shown("pause", over)))).toEqual(["completed: Done."]);
  });

  test("is read by each poll until its session could be read, and does not go on before", () => {
    const failed = [...halted, unread];
    expect(effectsOf(after(paused.run, ...halted, [700_000, polled]))).toEqual(["inspect pause"]);
    expect(effectsOf(after(paused.run, ...failed, polled))).toEqual(["inspect pause"]);
    expect(effectsOf(after(paused.run, ...failed, polled, shown("pause", over)))).toEqual(["completed: Done."]);
    expect(effectsOf(after(paused.run, ...failed, polled, shown("pause"), polled))).toEqual([]);
    expect(effectsOf(after(paused.run, ...failed, [700_000, polled]))).toEqual(["inspect pause"]);
    const due: Happening[] = [...failed, shown("pause"), [700_000, polled]];
    expect(effectsOf(after(paused.run, ...due))).toEqual(["turn"]);
    const continuing: Happening[] = [...due, { type: "turn.came" }];
    expect(effectsOf(after(paused.run, ...continuing, shown("pause", over)))).toEqual([]);
  });

  test("ends with an error if its session cannot be read for half an hour after its time", () => {
    const at = (minutes: number): Happening => [600_000 + minutes * 60_000, unread];
    expect(effectsOf(after(paused.run, ...halted, unread, at(25)))).toEqual(["poll"]);
    const over = after(paused.run, ...halted, unread, at(25), at(31));
    expect(effectsOf(over)).toEqual([expect.stringContaining("error: its session could not be read")]);
    // Nobody had tried in between.
    expect(effectsOf(after(paused.run, ...halted, at(300)))).toEqual(["poll"]);
  });

  test("rests if its session shows no end, or that of a step only", () => {
    const error = { message: "aborted", aborted: true };
    for (const fields of [{}, { begun: true }, { ...over, error }, { ...over, unfinished: true }])
      expect(effectsOf(after(paused.run, ...halted, shown("pause", fields)))).toEqual([]);
  });

  test("ends as deleted if its session is gone", () => {
    const gone: RunInput = { ...unread, isGone: true };
    expect(effectsOf(after(paused.run, ...halted, gone))).toEqual(["sweep", "error: its session was deleted"]);
  });
});

describe("a paused run that the host failed to stop for a budget, in which something is left then", () => {
  const error = { message: "limit", aborted: false, until: 60_000 };
  const due: Happening[] = [...begun, shown("hint", { begun: true, error })];
  const paused = after(sampleRun(), ...due);
  const halted: Happening[] = [...written(paused), { type: "aborted", purpose: { name: "pause" } }, shown("pause")];
  const coming = after(paused.run, ...halted, [120_000, polled]);
  const budgets = (breach: string | null): RunInput => ({ type: "budgets.read", budgets: { isTimed: false }, breach });
  const unstopped = (run: LiveRun, meanwhile: RunInput): LiveRun => {
    const stopping = after(run, budgets("stopped: used up")).run;
    const attempt = stopping.stopping ?? { number: 0, verdict: { outcome: "error", error: "none" } };
    const purpose = { name: "stop", attempt } as const;
    const failed = { type: "abort.failed", purpose, isGone: false, error: "no answer" } as const;
    return after(stopping, meanwhile, failed, budgets(null)).run;
  };

  test("goes on, whatever had happened meanwhile", () => {
    expect(effectsOf(coming)).toEqual(["turn"]);
    const came: RunInput = { type: "turn.came" };
    expect(effectsOf(after(unstopped(coming.run, came), [120_000, polled]))).toEqual(["turn"]);
    const continuing = after(coming.run, came);
    expect(effectsOf(continuing)).toEqual(["continue"]);
    const stored = unstopped(continuing.run, { type: "continued" });
    expect(effectsOf(after(stored, [120_000, polled]))).toEqual(["turn"]);
  });
});
